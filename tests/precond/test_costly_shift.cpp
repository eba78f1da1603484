// SPDX-License-Identifier: BSD-3-Clause
// The search for a shift where one factorization is much work: what ILU(0) needs is found first, and tried first.
#include <gtest/gtest.h>

#include <vector>

#include "echelon/base/work_watch.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/report/factor_report.hpp"
#include "tests/reference/arrow_matrix.hpp"

namespace echelon {
namespace {

/// An arrow of `n` rows, whose ILU(1) is complete (n³/3 operations), and beside it a chain with the multiplier 10, whose
/// inverse grows by 10 a row: 1e60 at its end. A + 0.512·diag(row scale) is the first of the ladder below the limit.
BlockCsr<double> chain_beside_an_arrow(std::int32_t n) {
  const auto arrow = test::arrow_matrix(n, 2.0 * n);
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    for (auto e = arrow.row_start()[i]; e < arrow.row_start()[i + 1]; ++e) {
      entries.push_back({i, arrow.column()[e], arrow.values()[e]});
    }
  }
  constexpr std::int32_t length = 60;
  for (std::int32_t i = 0; i < length; ++i) {
    entries.push_back({n + i, n + i, 1.0});
    if (i > 0) entries.push_back({n + i, n + i - 1, -10.0});
  }
  return from_triplets<double>(n + length, n + length, entries);
}

TEST(CostlyShift, IsFoundWithoutFillFirst) {
  const auto small = chain_beside_an_arrow(60);
  const auto large = chain_beside_an_arrow(1300);
  const auto cheap = ilu(small, {.fill = 1});
  ASSERT_TRUE(cheap.report().ok) << cheap.report().message;
  EXPECT_GE(cheap.report().shift_attempts, 8) << "one doubling after the other";
  int asked = 0;
  const WorkWatch watch([&] { return ++asked, Verdict::proceed; });
  const auto costly = ilu(large, {.fill = 1});
  ASSERT_TRUE(costly.report().ok) << costly.report().message;
  EXPECT_EQ(costly.report().shift_attempts, 1) << "without a shift, and then with the one that is needed";
  EXPECT_EQ(costly.report().shift, cheap.report().shift);
  // A symbolic and two numeric factorizations, 7e8 and at most 1.1e9 operations each; eleven would be some 6,000 questions.
  EXPECT_LT(asked, 2500);
}

}  // namespace
}  // namespace echelon
