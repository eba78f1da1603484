// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"

namespace ec = echelon;
namespace {

using Csr = ec::BlockCsr<double>;

TEST(Jacobi, DividesByTheDiagonal) {
  const Csr A(2, 2, 1, {0, 2, 3}, {0, 1, 1}, {4, 9, 0.5});
  const ec::Jacobi<double> M(A);
  const ec::Vector<double> r{1, 1};
  ec::Vector<double> z(2);
  M.apply(r, z);
  EXPECT_EQ(z[0], 0.25);
  EXPECT_EQ(z[1], 2);
  EXPECT_TRUE(M.report().ok);
  EXPECT_EQ(M.report().name, "jacobi");
  EXPECT_EQ(M.report().perturbed_pivots, 0);
  EXPECT_EQ(M.report().kernel, "b=1");
}

TEST(Jacobi, PivotsInsideABlockWhoseFirstEntryIsZero) {
  // ⎡0 2⎤⁻¹   ⎡0   1/4⎤
  // ⎣4 0⎦   = ⎣1/2   0⎦
  const Csr A(1, 1, 2, {0, 1}, {0}, {0, 4, 2, 0});
  const ec::Jacobi<double> M(A);
  const ec::Vector<double> r{8, 6};
  ec::Vector<double> z(2);
  M.apply(r, z);
  EXPECT_EQ(z[0], 1.5);
  EXPECT_EQ(z[1], 4);
  EXPECT_EQ(M.report().perturbed_pivots, 0);
}

TEST(Jacobi, SolvesWithEachDiagonalBlockAsEigenDoes) {
  for (const int b : {1, 2, 3, 4, 5, 6, 7, 8, 11}) {
    const auto A = ec::problems::random({4, 3, 2}, ec::stencils::star7(), b, 3);
    const ec::Jacobi<double> from_grid(A), from_csr(ec::to_block_csr(A));
    ec::Vector<double> r(A.rows()), z(A.rows()), w(A.rows());
    for (std::int64_t i = 0; i < r.size(); ++i) r[i] = std::sin(static_cast<double>(i + 1));
    from_grid.apply(r, z);
    from_csr.apply(r, w);
    for (std::int64_t i = 0; i < r.size(); ++i) ASSERT_EQ(z[i], w[i]);
    for (std::int64_t p = 0; p < A.grid().points(); ++p) {
      const Eigen::Map<const Eigen::MatrixXd> D(A.block(p, A.stencil().center()).data(), b, b);
      const Eigen::Map<const Eigen::VectorXd> right(r.data() + p * b, b), got(z.data() + p * b, b);
      EXPECT_LT((D * got - right).lpNorm<Eigen::Infinity>(), 1e-13);
    }
  }
}

TEST(Jacobi, ZeroTinyMissingAndNonfiniteDiagonalsAreReplacedAndCounted) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // Row 0: zero; row 1: tiny beside its neighbour 8; row 2: none stored; row 3: NaN; row 4: fine.
  const Csr A(5, 5, 1, {0, 2, 4, 5, 6, 7}, {0, 1, 0, 1, 0, 3, 4}, {0, 2, 8, 1e-14, 4, nan, 5});
  const ec::Jacobi<double> M(A);
  const auto& report = M.report();
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.perturbed_pivots, 4);
  EXPECT_EQ(report.missing_diagonals, 1);
  ASSERT_EQ(report.bad_pivots.size(), 4u);
  using Kind = ec::PivotNote::Kind;
  EXPECT_EQ(report.bad_pivots[0].kind, Kind::zero);
  EXPECT_EQ(report.bad_pivots[1].kind, Kind::tiny);
  EXPECT_EQ(report.bad_pivots[1].row, 1);
  EXPECT_EQ(report.bad_pivots[1].row_norm, 8);
  EXPECT_EQ(report.bad_pivots[2].kind, Kind::zero);
  EXPECT_EQ(report.bad_pivots[3].kind, Kind::nonfinite_input);
  EXPECT_FALSE(report.remarks.empty());
  const ec::Vector<double> r(5, 1.0);
  ec::Vector<double> z(5);
  M.apply(r, z);
  const double expected[] = {0.5, 0.125, 0.25, 1, 0.2};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(z[i], expected[i]) << i;
}

TEST(Jacobi, ASingularBlockIsReplacedByItsScale) {
  const Csr A(1, 1, 2, {0, 1}, {0}, {1, 2, 2, 4});
  const ec::Jacobi<double> M(A);
  EXPECT_EQ(M.report().perturbed_pivots, 1);
  const ec::Vector<double> r{4, 8};
  ec::Vector<double> z(2);
  M.apply(r, z);
  EXPECT_EQ(z[0], 1);
  EXPECT_EQ(z[1], 2);
}

TEST(Jacobi, ScalingByAPowerOfTwoChangesNothing) {
  for (const double scale : {0x1p-900, 1.0, 0x1p900}) {
    const Csr A(2, 2, 1, {0, 2, 4}, {0, 1, 0, 1}, {1e-14 * scale, scale, scale, 3 * scale});
    EXPECT_EQ(ec::Jacobi<double>(A).report().perturbed_pivots, 1);
  }
}

TEST(Jacobi, RefusesWhatDoesNotFit) {
  const Csr wide(1, 2, 1, {0, 1}, {0}, {1.0});
  try {
    const ec::Jacobi<double> M(wide);
    FAIL();
  } catch (const ec::Error& e) {
    EXPECT_EQ(e.code(), ec::ErrorCode::not_square);
  }
  const Csr A(1, 1, 1, {0, 1}, {0}, {1.0});
  const ec::Jacobi<double> M(A);
  ec::Vector<double> one(1, 1.0), two(2, 1.0);
  EXPECT_THROW(M.apply(two, one), ec::Error);
  EXPECT_THROW(M.apply(one, two), ec::Error);
  EXPECT_THROW(M.apply(one, one), ec::Error);
}

TEST(Jacobi, SameBitsForEveryThreadCount) {
  const auto A = ec::problems::random({40, 40, 10}, ec::stencils::star7(), 2, 11);
  ec::Vector<double> r(A.rows(), 0.7), one(A.rows()), many(A.rows());
  ec::set_threads(1);
  ec::Jacobi<double>(A).apply(r, one);
  ec::set_threads(3);
  ec::Jacobi<double>(A).apply(r, many);
  ec::set_threads(0);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), many.begin()));
}

TEST(Identity, Copies) {
  const ec::Identity<double> M;
  const ec::Vector<double> r{1, 2};
  ec::Vector<double> z(2);
  M.apply(r, z);
  EXPECT_EQ(z[1], 2);
  EXPECT_EQ(M.report().name, "none");
}

}  // namespace
