// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/small_systems.hpp"

#include <cmath>
#include <limits>

namespace reference {

using echelon::BlockCsr;
using echelon::Triplet;
using echelon::Vector;

__extension__ using Quadruple = __float128;

BlockCsr<double> from_dense(const std::vector<std::vector<double>>& rows) {
  std::vector<Triplet<double>> entries;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      if (rows[i][j] != 0) entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), rows[i][j]});
    }
  }
  const auto n = static_cast<std::int64_t>(rows.size());
  return echelon::from_triplets<double>(n, n, entries);
}

BlockCsr<double> cyclic_shift(std::int64_t n) {
  std::vector<Triplet<double>> entries;
  for (std::int64_t i = 0; i < n; ++i) {
    entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>((i + 1) % n), 1.0});
  }
  return echelon::from_triplets<double>(n, n, entries);
}

BlockCsr<double> tridiagonal(std::int64_t n, double lower, double diagonal, double upper) {
  std::vector<Triplet<double>> entries;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::int32_t>(i);
    if (i > 0) entries.push_back({row, row - 1, lower});
    entries.push_back({row, row, diagonal});
    if (i + 1 < n) entries.push_back({row, row + 1, upper});
  }
  return echelon::from_triplets<double>(n, n, entries);
}

LongVector widened(const Vector<double>& x) { return LongVector(x.begin(), x.end()); }

Apply long_product(const BlockCsr<double>& A) {
  return [&A](const LongVector& x) {
    LongVector y(static_cast<std::size_t>(A.rows()));
    const auto start = A.row_start();
    const std::int64_t b = A.block();
    for (std::int64_t row = 0; row < A.block_rows(); ++row) {
      for (std::int64_t e = start[row]; e < start[row + 1]; ++e) {
        for (std::int64_t c = 0; c < b; ++c) {
          for (std::int64_t r = 0; r < b; ++r) {
            y[row * b + r] += static_cast<long double>(A.values()[(e * b + c) * b + r]) * x[A.column()[e] * b + c];
          }
        }
      }
    }
    return y;
  };
}

long double exact_norm(const Vector<double>& x) {
  // The range of long double holds the square of every double.
  long double sum = 0;
  for (const double value : x) sum += static_cast<long double>(value) * value;
  return std::sqrt(sum);
}

echelon::Vector<double> waves(std::int64_t n) {
  echelon::Vector<double> b(n);
  for (std::int64_t i = 0; i < n; ++i) b[i] = std::sin(static_cast<double>(i)) + 0.1;
  return b;
}

long double exact_residual_norm(const BlockCsr<double>& A, const Vector<double>& b, const Vector<double>& x) {
  for (const double value : x) {
    if (!std::isfinite(value)) return std::numeric_limits<long double>::infinity();
  }
  long double sum = 0;
  for (std::int64_t row = 0; row < A.rows(); ++row) {
    // The product of two doubles is exact in 113 bits; what a sum drops is gathered beside it.
    Quadruple r = b[row], dropped = 0;
    const std::int64_t block = A.block(), block_row = row / block;
    for (std::int64_t e = A.row_start()[block_row]; e < A.row_start()[block_row + 1]; ++e) {
      for (std::int64_t c = 0; c < block; ++c) {
        const Quadruple term =
            -static_cast<Quadruple>(A.values()[(e * block + c) * block + row % block]) * x[A.column()[e] * block + c];
        const Quadruple sum_so_far = r + term, taken = sum_so_far - r;
        dropped += (r - (sum_so_far - taken)) + (term - taken);
        r = sum_so_far;
      }
    }
    r += dropped;
    sum += static_cast<long double>(r) * static_cast<long double>(r);
  }
  return std::sqrt(sum);
}

}  // namespace reference
