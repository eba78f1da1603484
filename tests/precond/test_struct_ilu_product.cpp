// SPDX-License-Identifier: BSD-3-Clause
// The defining property on a grid: (LU)_ij = A_ij on the pattern, to the bound of rounding errors. With n products in an
// entry and blocks inverted with condition κ, each step of w_t − Σ L_m U_u, L = w D⁻¹ loses at most a unit in the last
// place, so |LU − A| ≤ (n + 4) b κ u |L||U|, entry by entry for scalars and in the largest entry of a block (Higham,
// Accuracy and Stability, sections 3.5, 9.3 and 14.1).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "echelon/base/small_block.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"

namespace ec = echelon;
namespace {

/// One infinity-norm condition number for all diagonal blocks of U.
double worst_condition(const ec::BlockCsr<double>& U) {
  const int b = U.block();
  double worst = 1;
  for (std::int64_t p = 0; p < U.block_rows(); ++p) {
    std::vector<double> block(static_cast<std::size_t>(b) * b), inverse;
    for (int r = 0; r < b; ++r) {
      for (int c = 0; c < b; ++c) block[static_cast<std::size_t>(c * b + r)] = U.at(p * b + r, p * b + c);
    }
    inverse = block;
    std::vector<int> swaps(static_cast<std::size_t>(b));
    ec::invert<0>(b, inverse.data(), swaps.data());
    const auto norm = [&](const std::vector<double>& m) {
      double largest = 0;
      for (int r = 0; r < b; ++r) {
        double sum = 0;
        for (int c = 0; c < b; ++c) sum += std::abs(m[static_cast<std::size_t>(c * b + r)]);
        largest = std::max(largest, sum);
      }
      return largest;
    };
    worst = std::max(worst, norm(block) * norm(inverse));
  }
  return worst;
}

/// Checks every scalar of A's pattern; returns how many there were.
std::int64_t check_product(const ec::BlockCsr<double>& A, const ec::Ilu<double>& M, const std::string& what) {
  const auto L = M.lower(), U = M.upper();
  const int b = A.block();
  const double unit = std::numeric_limits<double>::epsilon() / 2, condition = b == 1 ? 1 : worst_condition(U);
  std::int64_t checked = 0;
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    for (std::int64_t e = A.row_start()[i]; e < A.row_start()[i + 1]; ++e) {
      const std::int64_t j = A.column()[e];
      double error = 0, largest = 0;  // of the block: inside it the inverse mixes the entries
      int most = 0;
      for (int r = 0; r < b; ++r) {
        for (int c = 0; c < b; ++c) {
          const std::int64_t row = i * b + r, column = j * b + c;
          long double sum = U.at(row, column);
          double sizes = std::abs(U.at(row, column));
          int products = 0;
          for (std::int64_t m = L.row_start()[i]; m < L.row_start()[i + 1]; ++m) {
            for (int k = 0; k < b; ++k) {
              const std::int64_t between = std::int64_t{L.column()[m]} * b + k;
              const double l = L.at(row, between), u = U.at(between, column);
              sum += static_cast<long double>(l) * u;
              sizes += std::abs(l * u);
              products += u != 0;
            }
          }
          error = std::max(error, std::abs(static_cast<double>(sum - A.at(row, column))));
          largest = std::max(largest, sizes);
          most = std::max(most, products);
          ++checked;
        }
      }
      EXPECT_LE(error, (most + 4) * b * condition * unit * largest) << what << " block (" << i << "," << j << ")";
    }
  }
  return checked;
}

class ProductOfFactors : public testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(ProductOfFactors, IsAOnThePatternToTheBound) {
  const auto [name, dof] = GetParam();
  const auto A = ec::problems::random({11, 4, 3}, ec::stencils::named(name), dof, 31);
  EXPECT_EQ(check_product(ec::to_block_csr(A), ec::ilu(A), name), A.nonzeros());
}

INSTANTIATE_TEST_SUITE_P(StencilsAndDof, ProductOfFactors,
                         testing::Combine(testing::Values("star7", "star13", "diamond13", "diamond25", "box27"),
                                          testing::Range(1, 9)));

TEST(ProductOfFactors, RandomStencilsTheSame) {
  std::uint64_t state = 12345;
  const auto draw = [&](int from, int to) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return from + static_cast<int>((state >> 33) % static_cast<std::uint64_t>(to - from + 1));
  };
  for (int trial = 0; trial < 40; ++trial) {
    std::set<std::tuple<int, int, int>> chosen;
    for (int n = draw(1, 8); n > 0; --n) chosen.insert({draw(-4, 4), draw(-2, 2), draw(-2, 2)});
    std::vector<ec::Offset> offsets;
    for (const auto& [x, y, z] : chosen) offsets.push_back({x, y, z});
    const auto A = ec::problems::random({draw(1, 19), draw(1, 5), draw(1, 4)}, ec::Stencil(offsets), draw(1, 3),
                                        static_cast<std::uint64_t>(trial));
    check_product(ec::to_block_csr(A), ec::ilu(A), "trial " + std::to_string(trial));
  }
}

}  // namespace
