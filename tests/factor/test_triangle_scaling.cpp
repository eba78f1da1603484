// SPDX-License-Identifier: BSD-3-Clause
// Ruiz scaling and the measures of triangles: by hand, against Eigen, on the projection problem, on blocks and zero rows.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/SVD>
#include <cmath>

#include "echelon/echelon.hpp"
#include "echelon/factor/rows/ruiz_scaling.hpp"
#include "echelon/factor/rows/symbolic.hpp"
#include "echelon/factor/rows/triangle_measures.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

/// The factors of a matrix in the house representation, from its ILU.
struct Factors {
  Triangles<double> made;
  explicit Factors(const Ilu<double>& M) {
    const BlockCsr<double> L = M.lower(), U = M.upper();
    const auto n = L.block_rows();
    const int b = L.block();
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> column;
    for (std::int64_t i = 0; i < n; ++i) {
      for (const auto* part : {&L, &U}) {
        for (auto p = part->row_start()[i]; p < part->row_start()[i + 1]; ++p) column.push_back(part->column()[p]);
      }
      start.push_back(static_cast<std::int64_t>(column.size()));
    }
    made.rows = n;
    made.block = b;
    EXPECT_TRUE(split({n, start.data(), column.data()}, b == 1, made.lower, made.upper));
    const std::int64_t size = std::int64_t{b} * b;
    made.lower_values = Array<double>(L.values());
    made.upper_values = Array<double>(made.upper.entries() * size);
    made.inverse_diagonal = Array<double>(n * size);
    std::vector<int> swaps(static_cast<std::size_t>(b));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto first = U.row_start()[i], entries = U.row_start()[i + 1] - first - 1;
      std::copy_n(U.values().data() + first * size, size, made.inverse_diagonal.data() + i * size);
      invert<0>(b, made.inverse_diagonal.data() + i * size, swaps.data());
      std::copy_n(U.values().data() + (first + 1) * size, entries * size,
                  made.upper_values.data() + made.upper.start[n - 1 - i] * size);
    }
  }
};

double exact_condition(const TriangleView<double>& triangle, double& one_norm) {
  const auto n = static_cast<Eigen::Index>(triangle.rows() * triangle.block);
  const Array<double> full = dense(triangle);
  const Eigen::MatrixXd T = Eigen::Map<const Eigen::MatrixXd>(full.data(), n, n);
  const Eigen::MatrixXd inverse = T.fullPivLu().inverse();
  one_norm = T.cwiseAbs().colwise().sum().maxCoeff() * inverse.cwiseAbs().colwise().sum().maxCoeff();
  const Eigen::VectorXd sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(T).singularValues();
  return sigma[0] / sigma[n - 1];
}

TEST(RuizScaling, AMatrixByHand) {
  // [0 1e6; 4 0]: every row and column has one entry; both are 1 after one round.
  const auto A = from_triplets<double>(2, 2, std::vector<Triplet<double>>{{0, 1, 1e6}, {1, 0, 4}});
  RuizScaling scaling;
  equilibrate(A, scaling);
  EXPECT_TRUE(scaling.converged);
  EXPECT_EQ(scaling.rounds, 1);
  EXPECT_DOUBLE_EQ(scaling.row[0] * scaling.column[1], 1e6);
  const auto S = scaled(A, scaling);
  EXPECT_DOUBLE_EQ(S.at(0, 1), 1);
  EXPECT_DOUBLE_EQ(S.at(1, 0), 1);
}

TEST(RuizScaling, LargestEntriesBecomeOneAndSymmetryStays) {
  for (const int block : {1, 3}) {
    auto A = reference::with_random_values<double>(reference::random_rows(40, 0.1, 7), block, 3, 0.1);
    for (std::size_t i = 0; i < A.values().size(); ++i) A.values()[i] *= std::pow(10.0, static_cast<double>(i % 13) - 6);
    RuizScaling scaling;
    equilibrate(A, scaling);
    EXPECT_TRUE(scaling.converged) << scaling.deviation;
    EXPECT_LE(scaling.rounds, 40);
    const auto S = scaled(A, scaling);
    for (std::int64_t i = 0; i < S.rows(); ++i) {
      double row = 0, column = 0;
      for (std::int64_t j = 0; j < S.rows(); ++j) {
        row = std::max(row, std::abs(S.at(i, j)));
        column = std::max(column, std::abs(S.at(j, i)));
      }
      EXPECT_NEAR(row, 1, 1.1e-6);
      EXPECT_NEAR(column, 1, 1.1e-6);
    }
  }
  const auto system = problems::projection({6, 6, 6});
  RuizScaling scaling;
  equilibrate(system.A, scaling);
  EXPECT_TRUE(std::ranges::equal(scaling.row, scaling.column));
  EXPECT_EQ(asymmetry(scaled(system.A, scaling)), 0);
}

TEST(RuizScaling, ZeroRowsKeepTheScaleOneAndRoundsEnd) {
  const auto A =
      from_triplets<double>(3, 3, std::vector<Triplet<double>>{{0, 0, 9}, {1, 0, 0}, {2, 1, 1e-300}, {0, 2, 1e300}});
  RuizScaling scaling;
  equilibrate(A, scaling);
  EXPECT_EQ(scaling.row[1], 1);
  EXPECT_LE(scaling.rounds, 60);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isfinite(scaling.row[i]) && scaling.row[i] > 0);
  equilibrate(A, scaling, {.most_rounds = 1});
  EXPECT_EQ(scaling.rounds, 1);
  EXPECT_FALSE(scaling.converged);
  EXPECT_GT(scaling.deviation, 0.1);
}

TEST(TriangleMeasures, DepartureByHand) {
  // ILU of [4 2; 2 5] is U = [4 2; 0 4], L = [1 0; 1/2 1].
  const Factors f(
      ilu(from_triplets<double>(2, 2, std::vector<Triplet<double>>{{0, 0, 4}, {0, 1, 2}, {1, 0, 2}, {1, 1, 5}})));
  EXPECT_EQ(departure(lower_view(f.made)), 0.5);
  EXPECT_EQ(departure(upper_view(f.made)), 2);
  EXPECT_EQ(normalised_departure(upper_view(f.made)), 0.5);
  // ‖U‖₁ = 6, ‖U⁻¹‖₁ = 1/4 · (1/2 + 1), of which the estimate finds a third.
  EXPECT_NEAR(condition_1(upper_view(f.made)), 6.0 / 3, 1e-14);
  EXPECT_EQ(level_count(f.made.lower), 2);
  EXPECT_EQ(level_count(f.made.lower, 2), 1);
}

TEST(TriangleMeasures, ConditionsAgainstEigen) {
  for (const int block : {1, 2}) {
    const auto A = reference::with_random_values<double>(reference::random_rows(30, 0.2, 11), block, 5, 0.3);
    const Factors f(ilu(A, {.fill = 2}));
    for (const auto& triangle : {lower_view(f.made), upper_view(f.made)}) {
      double one = 0;
      const double two = exact_condition(triangle, one);
      Array<double> full = dense(triangle);
      EXPECT_NEAR(condition_2(triangle.rows() * block, full) / two, 1, 1e-8);
      const double estimate = condition_1(triangle);
      EXPECT_LE(estimate, one * (1 + 1e-10));
      EXPECT_GE(estimate, one / 3);
    }
  }
}

TEST(TriangleMeasures, LevelsOfAChainAndOfNothing) {
  const auto chain = to_block_csr(problems::poisson({50, 1, 1}, Stencil({{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}})));
  const Factors f(ilu(chain));
  EXPECT_EQ(level_count(f.made.lower), 50);
  EXPECT_EQ(level_count(f.made.upper), 50);
  EXPECT_EQ(level_count(f.made.lower, 10), 5);
  const Factors diagonal(ilu(from_triplets<double>(2, 2, std::vector<Triplet<double>>{{0, 0, 4}, {1, 1, 5}})));
  EXPECT_EQ(level_count(diagonal.made.lower), 1);
  EXPECT_EQ(departure(upper_view(diagonal.made)), 0);
  EXPECT_EQ(condition_1(upper_view(diagonal.made)), 1.25);
}

}  // namespace
}  // namespace echelon
