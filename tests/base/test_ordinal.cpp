// SPDX-License-Identifier: BSD-3-Clause
// Rows in sentences: from 0 for the library's callers, from 1 once a program says so, places in a grid as well.
#include "echelon/base/ordinal.hpp"

#include <gtest/gtest.h>

#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"

namespace echelon {
namespace {

class Ordinals : public testing::Test {
 protected:
  void TearDown() override { count_ordinals_from(0); }
};

TEST_F(Ordinals, CountFromZeroUntilAProgramSaysOtherwise) {
  EXPECT_EQ(fmt::format("row {}, then {:3}", Ordinal{0}, Ordinal{9}), "row 0, then   9");
  count_ordinals_from(1);
  EXPECT_EQ(fmt::format("row {}, then {:3}", Ordinal{0}, Ordinal{9}), "row 1, then  10");
  EXPECT_EQ(first_ordinal(), 1);
  for (const int number : {-1, 2}) EXPECT_ERROR(count_ordinals_from(number), bad_argument, "legal are 0 and 1");
}

TEST_F(Ordinals, RowsOfAPivotAndItsGridPointCountAlike) {
  auto A = problems::poisson({3, 3, 2}, stencils::star7());
  A.block(5, A.stencil().center())[0] = 0;
  for (std::int64_t neighbour = 0; neighbour < A.stencil().size(); ++neighbour) {
    for (auto& value : A.block(5, static_cast<int>(neighbour))) value = 0;
  }
  const IluOptions options{.shift = ShiftPolicy::none};
  const auto from_zero = ilu(A, options).report().message;
  EXPECT_NE(from_zero.find("at row 5 "), std::string::npos) << from_zero;
  EXPECT_NE(from_zero.find("grid point (2,1,0), component 0, row 5)"), std::string::npos) << from_zero;
  count_ordinals_from(1);
  const auto from_one = ilu(A, options).report().message;
  EXPECT_NE(from_one.find("at row 6 "), std::string::npos) << from_one;
  EXPECT_NE(from_one.find("grid point (3,2,1), component 1, row 6)"), std::string::npos) << from_one;
}

TEST_F(Ordinals, ThrownErrorsCountAlike) {
  const auto outside = [] { (void)from_triplets<double>(2, 2, std::vector<Triplet<double>>{{0, 2, 1.0}}); };
  EXPECT_ERROR(outside(), index_range, "entry (0, 2)");
  count_ordinals_from(1);
  EXPECT_ERROR(outside(), index_range, "entry (1, 3)");
}

}  // namespace
}  // namespace echelon
