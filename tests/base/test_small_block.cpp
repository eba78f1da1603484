// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <vector>

#include "echelon/base/small_block.hpp"

namespace ec = echelon;
namespace {

using Matrix = Eigen::MatrixXd;
using Column = Eigen::VectorXd;

/// Runs the test body for one compile-time size and for the run-time kernel at the same size.
template <int B>
struct Sized {
  static constexpr int size = B;
};
template <class S>
class SmallBlock : public testing::Test {};
using Sizes = testing::Types<Sized<1>, Sized<2>, Sized<3>, Sized<4>, Sized<5>, Sized<6>, Sized<7>, Sized<8>, Sized<11>>;
TYPED_TEST_SUITE(SmallBlock, Sizes);

TYPED_TEST(SmallBlock, ProductsAgreeWithEigenAndWithTheRunTimeSize) {
  constexpr int B = TypeParam::size;
  std::srand(B);
  const Matrix A = Matrix::Random(B, B), X = Matrix::Random(B, B), C = Matrix::Random(B, B);
  const Column x = Column::Random(B), y = Column::Random(B);
  Column fixed = y, run = y;
  ec::add_product<B>(B, A.data(), x.data(), fixed.data());
  ec::add_product<0>(B, A.data(), x.data(), run.data());
  EXPECT_EQ(fixed, run);
  EXPECT_LT((fixed - (y + A * x)).norm(), 1e-14 * B);
  fixed = run = y;
  ec::subtract_product<B>(B, A.data(), x.data(), fixed.data());
  ec::subtract_product<0>(B, A.data(), x.data(), run.data());
  EXPECT_EQ(fixed, run);
  EXPECT_LT((fixed - (y - A * x)).norm(), 1e-14 * B);
  ec::product<B>(B, A.data(), x.data(), fixed.data());
  EXPECT_LT((fixed - A * x).norm(), 1e-14 * B);
  Matrix D = C;
  ec::subtract_block_product<B>(B, A.data(), X.data(), D.data());
  EXPECT_LT((D - (C - A * X)).norm(), 1e-14 * B * B);
  ec::block_product<B>(B, A.data(), X.data(), D.data());
  EXPECT_LT((D - A * X).norm(), 1e-14 * B * B);
}

TYPED_TEST(SmallBlock, InverseAgreesWithEigenAndWithTheRunTimeSize) {
  constexpr int B = TypeParam::size;
  std::srand(100 + B);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix A = Matrix::Random(B, B);
    Matrix fixed = A, run = A;
    std::vector<int> swaps(B);
    const double smallest = ec::invert<B>(B, fixed.data(), swaps.data());
    EXPECT_EQ(ec::invert<0>(B, run.data(), swaps.data()), smallest);
    EXPECT_EQ(fixed, run);
    EXPECT_GT(smallest, 0);
    const Matrix expected = A.inverse();
    EXPECT_LT((fixed - expected).norm(), 1e-11 * expected.norm() * A.norm() * expected.norm());
  }
}

TYPED_TEST(SmallBlock, APermutationIsInvertedExactly) {
  constexpr int B = TypeParam::size;
  Matrix P = Matrix::Zero(B, B);
  for (int i = 0; i < B; ++i) P(i, (i + 1) % B) = 2;
  Matrix A = P;
  std::vector<int> swaps(B);
  EXPECT_EQ(ec::invert<B>(B, A.data(), swaps.data()), 2);
  EXPECT_EQ(A, Matrix(P.transpose() / 4));
}

TYPED_TEST(SmallBlock, SingularAndNanAreSaid) {
  constexpr int B = TypeParam::size;
  std::vector<int> swaps(B);
  Matrix A = Matrix::Zero(B, B);
  EXPECT_EQ(ec::invert<B>(B, A.data(), swaps.data()), 0);
  A = Matrix::Identity(B, B);
  A.col(B - 1).setZero();
  EXPECT_EQ(ec::invert<B>(B, A.data(), swaps.data()), 0);
  A = Matrix::Identity(B, B);
  A(B - 1, B - 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(ec::invert<B>(B, A.data(), swaps.data())));
}

TEST(Fma, RoundsOnce) {
  const double a = 1 + 0x1p-30;
  EXPECT_EQ(ec::fma(a, a, -1 - 0x1p-29), 0x1p-60);
  const float f = 1 + 0x1p-13F;
  EXPECT_EQ(ec::fma(f, f, -1 - 0x1p-12F), 0x1p-26F);
}

}  // namespace
