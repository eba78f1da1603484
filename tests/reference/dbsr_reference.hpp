// SPDX-License-Identifier: BSD-3-Clause
// Gauss-Seidel and its parts row by row on a matrix in its final order (CSR, blocks of size 1): what the kernels on diagonal
// block rows must equal bit for bit. And vectors between natural order and that one.
#pragma once

#include <span>
#include <vector>

#include "echelon/base/fma.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon::reference {

template <class T>
struct SequentialSweeps {
  explicit SequentialSweeps(const BlockCsr<T>& matrix) : A(matrix.view()) {}

  T diagonal(std::int64_t i) const {
    for (auto p = A.row_start[i]; p < A.row_start[i + 1]; ++p) {
      if (A.column[p] == i) return A.values[p];
    }
    return 0;
  }
  /// s − Σ_{j<i} a_ij x_j, columns ascending.
  T before(std::int64_t i, const std::vector<T>& x, T s) const {
    for (auto p = A.row_start[i]; p < A.row_start[i + 1] && A.column[p] < i; ++p) {
      s = fma(-A.values[p], x[static_cast<std::size_t>(A.column[p])], s);
    }
    return s;
  }
  /// s − Σ_{j>i} a_ij x_j, columns descending.
  T behind(std::int64_t i, const std::vector<T>& x, T s) const {
    for (auto p = A.row_start[i + 1]; p-- > A.row_start[i] && A.column[p] > i;) {
      s = fma(-A.values[p], x[static_cast<std::size_t>(A.column[p])], s);
    }
    return s;
  }
  std::vector<T> multiply(const std::vector<T>& x) const {
    std::vector<T> y(x.size(), T(0));
    for (std::int64_t i = 0; i < A.block_rows; ++i) {
      for (auto p = A.row_start[i]; p < A.row_start[i + 1]; ++p) {
        auto& sum = y[static_cast<std::size_t>(i)];
        sum = fma(A.values[p], x[static_cast<std::size_t>(A.column[p])], sum);
      }
    }
    return y;
  }
  /// x is the guess, and becomes x_f; returns w = r − L x_f.
  std::vector<T> forward(const std::vector<T>& r, std::vector<T>& x, bool from_zero) const {
    std::vector<T> w(r.size());
    for (std::int64_t i = 0; i < A.block_rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      w[at] = before(i, x, r[at]);
      x[at] = (T(1) / diagonal(i)) * (from_zero ? w[at] : behind(i, x, w[at]));
    }
    return w;
  }
  void backward(const std::vector<T>& w, std::vector<T>& x) const {
    for (std::int64_t i = A.block_rows - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      x[at] = (T(1) / diagonal(i)) * behind(i, x, w[at]);
    }
  }
  std::vector<T> residual(const std::vector<T>& r, const std::vector<T>& w, const std::vector<T>& x) const {
    std::vector<T> out(r.size());
    for (std::int64_t i = 0; i < A.block_rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      out[at] = before(i, x, r[at] - w[at]);
    }
    return out;
  }

  BlockCsrView<T> A;
};

template <class T>
std::vector<T> in_order(const Vector<T>& natural, std::span<const std::int32_t> order) {
  std::vector<T> moved;
  for (const auto point : order) moved.push_back(natural[point]);
  return moved;
}

}  // namespace echelon::reference
