// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/auto_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "echelon/matrix/traits.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon {
namespace {

MatrixTraits symmetric_positive() {
  MatrixTraits traits;
  traits.rows = traits.dominant_rows = 10;
  return traits;
}

MatrixTraits unsymmetric() {
  MatrixTraits traits = symmetric_positive();
  traits.asymmetry = 0.5;
  return traits;
}

TEST(AutoRule, SymmetricWithPositiveDiagonalStartsWithCgAndIc) {
  const auto ladder = auto_ladder(symmetric_positive(), {});
  EXPECT_EQ(ladder.front().solver, "cg");
  EXPECT_EQ(ladder.front().pc, "ic");
  EXPECT_EQ(ladder.front().options.ilu.shift, ShiftPolicy::none);
  EXPECT_EQ(ladder.front().name(), "cg with ic(0)");
}

TEST(AutoRule, EverythingElseStartsWithGmresAndIlu) {
  auto negative = symmetric_positive();
  negative.negative_diagonals = 1;
  for (const auto& traits : {unsymmetric(), negative}) {
    const auto ladder = auto_ladder(traits, {});
    EXPECT_EQ(ladder.front().name(), "gmres with ilu(0)");
    for (const auto& choice : ladder) EXPECT_NE(choice.pc, "ic");
  }
}

TEST(AutoRule, TheLadderIsBoundedAndRepeats) {
  const auto first = auto_ladder(unsymmetric(), {}), second = auto_ladder(unsymmetric(), {});
  EXPECT_LE(first.size(), 10u);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name(), second[i].name());
    EXPECT_FALSE(first[i].why.empty());
  }
}

TEST(AutoRule, TheUsersSolverFillAndShiftStand) {
  AutoWishes wishes;
  wishes.solver = "bicgstab";
  wishes.options.ilu.fill = 2;
  wishes.options.ilu.shift = ShiftPolicy::value;
  wishes.options.ilu.shift_value = 0.1;
  for (const auto& choice : auto_ladder(symmetric_positive(), wishes)) {
    EXPECT_EQ(choice.solver, "bicgstab");
    if (choice.pc == "ilu" || choice.pc == "ic") {
      EXPECT_GE(choice.options.ilu.fill, 2);
    }
    EXPECT_EQ(choice.options.ilu.shift, ShiftPolicy::value);
  }
}

TEST(AutoRule, AZeroOnTheDiagonalIsMatchedFirstUnlessThereAreBlocks) {
  auto traits = unsymmetric();
  traits.zero_diagonals = 1;
  EXPECT_TRUE(auto_ladder(traits, {}).front().options.match_rows);
  traits.block = 3;
  for (const auto& choice : auto_ladder(traits, {})) EXPECT_FALSE(choice.options.match_rows);
}

TEST(AutoRule, CgNeverGetsMatchedRows) {
  AutoWishes wishes;
  wishes.solver = "cg";
  for (const auto& choice : auto_ladder(unsymmetric(), wishes)) EXPECT_FALSE(choice.options.match_rows);
}

TEST(AutoRule, NearlyCompleteFactorizationsAreForSmallMatrices) {
  auto traits = unsymmetric();
  traits.rows = 10'000'000;
  for (const auto& choice : auto_ladder(traits, {})) EXPECT_LE(choice.options.ilu.fill, 2);
}

TEST(AutoRule, TheLastFactorizationsAreThresholdsInANarrowBandAndPivoting) {
  const auto ladder = auto_ladder(unsymmetric(), {});
  ASSERT_GE(ladder.size(), 4u);
  const auto& band = ladder[ladder.size() - 3];
  const auto& pivoting = ladder[ladder.size() - 2];
  EXPECT_EQ(band.name(), "gmres with ilut(200, 1e-08), rcm order");
  EXPECT_EQ(pivoting.name(), "gmres with ilutp(200, 1e-08), rcm order");
  EXPECT_EQ(pivoting.options.ilu.column_pivoting, 0.5);
  EXPECT_FALSE(pivoting.options.match_rows);
  EXPECT_EQ(ladder.back().pc, "jacobi");
  auto blocks = unsymmetric();
  blocks.block = 3;
  for (const auto& choice : auto_ladder(blocks, {}))
    EXPECT_EQ(choice.options.ilu.column_pivoting, 0) << "pivots are scalars";
}

TEST(AutoRule, TheBudgetOfASetUpGrowsWithTheMatrix) {
  EXPECT_GE(setup_budget(0), 1'000'000'000);
  EXPECT_EQ(setup_budget(1'000), setup_budget(0));
  EXPECT_GT(setup_budget(100'000'000), 100 * setup_budget(1'000'000) / 2);
}

TEST(AutoRule, AFixedPreconditionerLeavesOnlyTheSolver) {
  AutoWishes wishes;
  wishes.pc = "jacobi";
  EXPECT_EQ(auto_ladder(unsymmetric(), wishes).size(), 1u);
  const auto ladder = auto_ladder(symmetric_positive(), wishes);
  ASSERT_EQ(ladder.size(), 2u);
  EXPECT_EQ(ladder[0].name(), "cg with jacobi");
  EXPECT_EQ(ladder[1].name(), "gmres with jacobi");
  wishes.solver = "gmres";
  EXPECT_EQ(auto_ladder(symmetric_positive(), wishes).size(), 1u);
}

TEST(AutoRule, HopelessMeansTooSlowForTheIterationsLeft) {
  EXPECT_FALSE(looks_hopeless(150, 0.999, 1e-8, 1000));  // too early to say
  EXPECT_TRUE(looks_hopeless(200, 0.999, 1e-8, 1000));
  EXPECT_TRUE(looks_hopeless(200, std::nan(""), 1e-8, 1000));
  EXPECT_FALSE(looks_hopeless(200, 1e-4, 1e-8, 1000));  // 400 iterations will do
  EXPECT_TRUE(looks_hopeless(200, 1e-4, 1e-8, 399));
  EXPECT_FALSE(looks_hopeless(201, 0.999, 1e-8, 1000));  // asked every fifty
}

TEST(MatrixTraits, OfPoissonAndConvectionInBothStorages) {
  const Grid grid{5, 4, 3};
  const auto P = problems::poisson(grid, stencils::star7());
  const auto C = problems::convection_diffusion(grid, stencils::star7());
  for (const auto& traits : {traits_of(P), traits_of(to_block_csr(P))}) {
    EXPECT_TRUE(traits.symmetric());
    EXPECT_TRUE(traits.positive_diagonal());
    EXPECT_EQ(traits.dominant_rows, 60);
    EXPECT_EQ(traits.weak_diagonals, 0);
  }
  for (const auto& traits : {traits_of(C), traits_of(to_block_csr(C))}) EXPECT_FALSE(traits.symmetric());
  const auto R = problems::random({4, 3, 2}, stencils::star7(), 3, 5);
  EXPECT_EQ(traits_of(R).dominant_rows, traits_of(to_block_csr(R)).dominant_rows);
  EXPECT_DOUBLE_EQ(traits_of(R).asymmetry, traits_of(to_block_csr(R)).asymmetry);
}

TEST(MatrixTraits, TheDiagonalsTroublesAreCounted) {
  // Row 0 has none, row 1 a stored zero, row 2 a negative one, row 3 a weak one, row 4 a good one.
  const std::vector<Triplet<double>> triplets = {{0, 1, 2.0},  {1, 0, 2.0}, {1, 1, 0.0}, {2, 2, -3.0},
                                                 {3, 3, 1e-5}, {3, 4, 1.0}, {4, 3, 1.0}, {4, 4, 4.0}};
  const auto traits = traits_of(from_triplets<double>(5, 5, triplets));
  EXPECT_EQ(traits.missing_diagonals, 1);
  EXPECT_EQ(traits.zero_diagonals, 1);
  EXPECT_EQ(traits.negative_diagonals, 1);
  EXPECT_EQ(traits.weak_diagonals, 3);
  EXPECT_EQ(traits.first_weak_row, 0);
  EXPECT_EQ(traits.dominant_rows, 2);
  EXPECT_TRUE(traits.symmetric());
  EXPECT_FALSE(traits.positive_diagonal());
}

}  // namespace
}  // namespace echelon
