// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/block_csr.hpp"

namespace ec = echelon;
namespace {

using Csr = ec::BlockCsr<double>;

/// ⎡1 0 2⎤
/// ⎣0 3 0⎦
Csr two_by_three() { return Csr(2, 3, 1, {0, 2, 3}, {0, 2, 1}, {1, 2, 3}); }

TEST(BlockCsr, ProductOfASmallMatrixByHand) {
  const auto A = two_by_three();
  const ec::Vector<double> x{1, 10, 100};
  ec::Vector<double> y(2);
  A.apply(x, y);
  EXPECT_EQ(y[0], 201);
  EXPECT_EQ(y[1], 30);
  const ec::Vector<double> b{1, 1};
  A.residual(b, x, y);
  EXPECT_EQ(y[0], -200);
  EXPECT_EQ(y[1], -29);
  EXPECT_EQ(A.norm_inf(), 3);
}

TEST(BlockCsr, ABlockIsColumnMajor) {
  // ⎡1 3⎤
  // ⎣2 4⎦ in one block
  const Csr A(1, 1, 2, {0, 1}, {0}, {1, 2, 3, 4});
  EXPECT_EQ(A.at(0, 1), 3);
  EXPECT_EQ(A.at(1, 0), 2);
  const ec::Vector<double> x{1, 10};
  ec::Vector<double> y(2);
  A.apply(x, y);
  EXPECT_EQ(y[0], 31);
  EXPECT_EQ(y[1], 42);
  EXPECT_EQ(A.norm_inf(), 6);
}

TEST(BlockCsr, AtGivesZeroWhereNothingIsStored) {
  const auto A = two_by_three();
  EXPECT_EQ(A.at(0, 0), 1);
  EXPECT_EQ(A.at(0, 1), 0);
  EXPECT_EQ(A.at(0, 2), 2);
  EXPECT_EQ(A.at(1, 1), 3);
  EXPECT_THROW((void)A.at(2, 0), ec::Error);
  EXPECT_THROW((void)A.at(0, -1), ec::Error);
}

TEST(BlockCsr, EmptyMatrix) {
  const Csr A(0, 0, 3, {0}, {}, {});
  const ec::Vector<double> x;
  ec::Vector<double> y;
  A.apply(x, y);
  EXPECT_EQ(A.rows(), 0);
  EXPECT_EQ(A.norm_inf(), 0);
}

TEST(BlockCsr, EmptyRowsGiveZero) {
  const Csr A(3, 3, 1, {0, 0, 1, 1}, {2}, {5.0});
  const ec::Vector<double> x{1, 2, 3};
  ec::Vector<double> y(3, 99.0);
  A.apply(x, y);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 15);
  EXPECT_EQ(y[2], 0);
}

}  // namespace
