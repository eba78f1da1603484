// SPDX-License-Identifier: BSD-3-Clause
// A block CSR matrix that is a stencil is solved on its grid by the automatic solve: the bits of the structured matrix given
// directly, block CSR's factors, and a report that says so; where the grid would mean other factors it stays block CSR.
#include <gtest/gtest.h>

#include <algorithm>

#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "echelon/solve/grid_form.hpp"

namespace echelon {
namespace {

using V = Vector<double>;

struct Solved {
  AutoOutcome outcome;
  V x;
};

Solved solved(const MatrixRef& A, const SolveRequest& request) {
  const V b(as_operator(A).rows(), 1.0);
  V x(b.size(), 0.0);
  auto outcome = solve_automatically(A, b, x, request);
  return {std::move(outcome), std::move(x)};
}

SolveRequest request_for(const std::string& pc, int fill) {
  SolveRequest request;
  request.wishes.solver = "gmres";
  request.wishes.pc = pc;
  request.wishes.options.ilu.fill = fill;
  return request;
}

void expect_same_bits(const Solved& a, const Solved& b) {
  EXPECT_EQ(a.outcome.report.history, b.outcome.report.history);
  ASSERT_TRUE(std::equal(a.x.begin(), a.x.end(), b.x.begin(), b.x.end()));
}

TEST(GridForm, SolvesWithTheBitsOfTheStructuredMatrix) {
  for (const auto& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    const Grid grid = stencil.find({0, 0, 1}) < 0 ? Grid{40, 30, 1} : Grid{11, 10, 12};
    for (const int block : {1, 2, 3, 4, 5}) {
      SCOPED_TRACE(testing::Message() << name << ", b " << block);
      const auto A = problems::random(grid, stencil, block, 3);
      const auto rows = to_block_csr(A);
      const auto request = request_for("ilu", 0);
      const Solved recognised = solved(&rows, request), direct = solved(&A, request);
      EXPECT_TRUE(recognised.outcome.report.recognised.starts_with(name)) << recognised.outcome.report.recognised;
      EXPECT_EQ(direct.outcome.report.recognised, "");
      expect_same_bits(recognised, direct);
      // The same factors as block CSR's, so the same iteration.
      SolveRequest off = request;
      off.recognise_stencils = false;
      const Solved plain = solved(&rows, off);
      EXPECT_EQ(plain.outcome.report.recognised, "");
      EXPECT_EQ(plain.outcome.report.iterations, recognised.outcome.report.iterations);
    }
  }
}

/// Gauss-Seidel is the same on the grid. Block multicolouring is not: boxes of points instead of blocks of rows.
TEST(GridForm, OrdersOfTheirOwnAreThoseOfTheGrid) {
  for (const auto& [name, grid] : {std::pair{"star7", Grid{20, 18, 16}}, {"box27", Grid{20, 18, 16}}, {"star5", Grid{60, 50, 1}}}) {
    SCOPED_TRACE(name);
    const auto A = problems::poisson(grid, stencils::named(name));
    const auto rows = to_block_csr(A);
    for (const char* pc : {"sgs", "dbsr"}) {
      const auto request = request_for(pc, 0);
      SolveRequest off = request;
      off.recognise_stencils = false;
      const Solved recognised = solved(&rows, request), direct = solved(&A, request), plain = solved(&rows, off);
      EXPECT_TRUE(recognised.outcome.report.recognised.starts_with(name)) << pc;
      expect_same_bits(recognised, direct);
      EXPECT_EQ(plain.outcome.report.recognised, "") << pc;
      const auto order = [](const Solved& one) { return one.outcome.report.preconditioner.ordering; };
      if (std::string(pc) == "sgs") {
        EXPECT_EQ(plain.outcome.report.iterations, recognised.outcome.report.iterations);
        continue;
      }
      EXPECT_EQ(order(recognised), order(direct));
      EXPECT_NE(order(recognised).find(grid.nz > 1 ? "(4x4x4 a block, bsize 8" : "(8x8 a block, bsize 8"), std::string::npos);
      EXPECT_NE(order(plain).find("(64 rows a block, bsize 1"), std::string::npos) << order(plain);
      if (std::string(name) != "box27") {
        EXPECT_LT(recognised.outcome.report.iterations, plain.outcome.report.iterations);
      }
    }
  }
}

TEST(GridForm, HasTheFactorsOfBlockCsr) {
  for (const auto& [name, fill] : {std::pair{"star7", 0},
                                   {"star7", 1},
                                   {"star7", 2},
                                   {"star13", 1},
                                   {"diamond13", 1},
                                   {"diamond25", 1},
                                   {"box27", 0}}) {
    const auto rows = to_block_csr(problems::random({11, 10, 12}, stencils::named(name), 1, 3));
    const auto form = GridForm::of(&rows);
    ASSERT_TRUE(form) << name;
    AutoChoice choice;
    choice.pc = "ilu";
    choice.options.ilu.fill = fill;
    EXPECT_TRUE(form->suits(choice, traits_of(rows))) << name << " " << fill;
    const auto here = ilu(form->matrix(), choice.options.ilu).lower(), there = ilu(rows, choice.options.ilu).lower();
    ASSERT_TRUE(std::ranges::equal(here.column(), there.column())) << name << " " << fill;
    ASSERT_TRUE(std::ranges::equal(here.values(), there.values())) << name << " " << fill;
  }
}

TEST(GridForm, AbsentEntriesOfAStarAreZeros) {
  const Grid grid{11, 10, 12};
  auto A = problems::poisson(grid, stencils::star7());
  // A symmetric hole: two points that do not know each other.
  const std::int64_t p = grid.index(5, 5, 5);
  std::vector<Triplet<double>> triplets;
  const auto rows = to_block_csr(A);
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    for (auto e = rows.row_start()[row]; e < rows.row_start()[row + 1]; ++e) {
      const std::int64_t column = rows.column()[e];
      if ((row == p && column == p + 1) || (row == p + 1 && column == p)) continue;
      triplets.push_back({static_cast<std::int32_t>(row), rows.column()[e], rows.values()[e]});
    }
  }
  const auto holed = from_triplets<double>(A.rows(), A.rows(), triplets);
  const auto form = GridForm::of(&holed);
  ASSERT_TRUE(form);
  AutoChoice choice;
  for (const auto& [pc, fill, suits] : {std::tuple{"ilu", 0, true}, {"ic", 0, true}, {"ilu", 1, false}, {"none", 0, true}, {"sgs", 0, true}, {"dbsr", 0, true}}) {
    choice.pc = pc;
    choice.options.ilu.fill = fill;
    EXPECT_EQ(form->suits(choice, traits_of(holed)), suits) << pc << " " << fill;
  }
  // IC looks at the pattern too.
  MatrixTraits unsymmetric = traits_of(holed);
  unsymmetric.asymmetry = 1;
  choice.pc = "ic";
  choice.options.ilu.fill = 0;
  EXPECT_FALSE(form->suits(choice, unsymmetric));
  const auto request = request_for("ilu", 0);
  SolveRequest off = request;
  off.recognise_stencils = false;
  const Solved here = solved(&holed, request), there = solved(&holed, off);
  EXPECT_EQ(here.outcome.report.recognised, "star7 on 11x10x12");
  const auto& remarks = here.outcome.report.remarks;
  EXPECT_TRUE(std::find(remarks.begin(), remarks.end(),
                        "the matrix is the stencil star7 on 11x10x12, 2 entries it lacks taken as zeros, and was solved as "
                        "such") != remarks.end());
  EXPECT_EQ(here.outcome.report.iterations, there.outcome.report.iterations);
  const auto L = ilu(holed).upper(), M = ilu(form->matrix()).upper();
  for (std::int64_t row = 0; row < L.rows(); ++row) ASSERT_EQ(L.at(row, row), M.at(row, row));
}

TEST(GridForm, StaysBlockCsrWhereTheGridMeansOtherFactors) {
  const auto box = to_block_csr(problems::random({11, 10, 12}, stencils::box27(), 1, 3));
  const auto star = to_block_csr(problems::poisson({11, 10, 12}, stencils::star7()));
  const auto small = to_block_csr(problems::poisson({9, 9, 9}, stencils::star7()));
  const auto recognised = [](const BlockCsr<double>& A, const SolveRequest& request) {
    return solved(&A, request).outcome.report.recognised;
  };
  EXPECT_EQ(recognised(box, request_for("ilu", 0)), "box27 on 11x10x12");
  EXPECT_EQ(recognised(box, request_for("ilu", 1)), "");
  EXPECT_EQ(recognised(star, request_for("ilu", 2)), "star7 on 11x10x12");
  EXPECT_EQ(recognised(star, request_for("ilu", 3)), "");
  EXPECT_EQ(recognised(star, request_for("jacobi", 0)), "");
  EXPECT_EQ(recognised(small, request_for("ilu", 0)), "");
  SolveRequest rcm = request_for("ilu", 0);
  rcm.wishes.options.ilu.ordering = Ordering::rcm;
  EXPECT_EQ(recognised(star, rcm), "");
  SolveRequest levels = request_for("ilu", 0);
  levels.wishes.options.ilu.schedule = SweepSchedule::levels;
  EXPECT_EQ(recognised(star, levels), "");
  SolveRequest matched = request_for("ilu", 0);
  matched.wishes.options.match_rows = true;
  EXPECT_EQ(recognised(star, matched), "");
}

// A ladder may leave the grid on the way: here the shape of its own rung decides.
TEST(GridForm, EveryRungTakesTheFormThatSuitsIt) {
  const auto star = to_block_csr(problems::poisson({11, 10, 12}, stencils::star7()));
  SolveRequest request;
  const Solved automatic = solved(&star, request);
  EXPECT_EQ(automatic.outcome.choice.name(), "cg with ic(0)");
  EXPECT_EQ(automatic.outcome.report.recognised, "star7 on 11x10x12");
  EXPECT_EQ(automatic.outcome.report.cg_form, "eisenstat");
  // Factors of files may be kept short, as those on grids are.
  request.wishes.options.ilu.precision = Stored::fp32;
  EXPECT_EQ(solved(&star, request).outcome.report.preconditioner.precision, "fp32");
}

}  // namespace
}  // namespace echelon
