// SPDX-License-Identifier: BSD-3-Clause
// HPCG: geometry, the reference's matrix and iterations beside published ones, the optimised run beside it, what makes a run
// INVALID, and the rating's arithmetic. Runs here are as short as they can be.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "apps/hpcg/benchmark.hpp"
#include "apps/hpcg/optimised.hpp"
#include "apps/hpcg/reference.hpp"
#include "apps/hpcg/report_text.hpp"
#include "apps/hpcg/validation.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/plain_smoother.hpp"

namespace echelon::hpcg {
namespace {

using test::PlainSmoother;

constexpr double reached = 1e-12;  // below that rounding decides

Geometry cube(std::int64_t side) { return {Grid{side, side, side}}; }

/// Rows of numbers of a table of shared/data/hpcg; empty when it is not there.
std::vector<std::vector<std::string>> table(const std::string& name) {
  const char* given = std::getenv("ECHELON_DATA");
  const std::filesystem::path data = given ? given : ECHELON_SOURCE_DIR "/../shared/data";
  std::ifstream in(data / "hpcg" / name);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    rows.emplace_back();
    for (std::string word; std::getline(words, word, ',');) rows.back().push_back(word);
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

std::vector<double> reference_history(std::int64_t side, double* first = nullptr) {
  const auto levels = levels_of(cube(side));
  Reference reference(levels, serial());
  Vector<double> x(reference.rows());
  std::vector<double> history;
  CgRequest request;
  request.history = &history;
  CgSeconds seconds;
  const auto result = reference.solve(right_hand_side(levels.front()), x, request, seconds);
  if (first) *first = result.first_residual;
  EXPECT_EQ(result.iterations, 50);
  return history;
}

Plan plan_for(std::int64_t side, MakeSmoother make) {
  Plan plan = make_plan(cube(side), smoother_kinds().front(), false);
  plan.make = std::move(make);
  plan.seconds = 1e-3;
  plan.reference_calls = 1;
  return plan;
}

/// On one thread, unless a test is about threads: test programs run side by side.
Outcome run(const Plan& plan, int count = 1) {
  const int before = threads_asked_for();
  set_threads(count);
  Outcome outcome = run_benchmark(plan, {}, serial());
  set_threads(before);
  return outcome;
}

TEST(HpcgGeometry, TakesWhatHpcgTakes) {
  for (const Grid& good : {Grid{16, 16, 16}, Grid{104, 104, 104}, Grid{16, 128, 64}, Grid{24, 32, 40}}) {
    EXPECT_NO_THROW(require_local_grid(good));
  }
  EXPECT_ERROR(require_local_grid({20, 16, 16}), bad_option,
               "--grid: got 20x16x16; HPCG needs sides that are multiples of 8");
  EXPECT_ERROR(require_local_grid({8, 8, 8}), bad_option, "at least 16");
  EXPECT_ERROR(require_local_grid({16, 16, 136}), bad_option,
               "--grid: the grid of points of a process is 16x16x136, flatter than 1:8");
  EXPECT_NO_THROW(require_process_grid(ProcessGrid{{1, 8, 2}}));
  EXPECT_ERROR(require_process_grid(ProcessGrid{{11, 1, 1}}), bad_option,
               "the grid of 11 processes is 11x1x1, flatter than 1:8");
}

TEST(HpcgGeometry, CountsRowsOfTheWholeGrid) {
  const Geometry second{Grid{16, 16, 16}, ProcessGrid{{2, 1, 1}}, 1};
  EXPECT_EQ(second.global(), (Grid{32, 16, 16}));
  EXPECT_EQ(second.place(), (std::array<int, 3>{1, 0, 0}));
  EXPECT_EQ(second.row_entries(0, 0, 0), 12) << "an edge: the neighbours to the left are the first process's";
  EXPECT_EQ(second.row_entries(15, 0, 0), 8) << "a corner";
  EXPECT_EQ(second.row_entries(7, 7, 7), 27);
  EXPECT_EQ(second.global_row(0, 0, 0), 16);
  std::int64_t entries = 0;
  for (int rank = 0; rank < 2; ++rank) {
    const Geometry one{second.local, second.processes, rank};
    for (std::int64_t k = 0; k < 16; ++k) {
      for (std::int64_t j = 0; j < 16; ++j) {
        for (std::int64_t i = 0; i < 16; ++i) entries += one.row_entries(i, j, k);
      }
    }
  }
  EXPECT_EQ(entries, second.nonzeros());
}

TEST(HpcgGeometry, HasThePublishedSizes) {
  const auto rows = table("problem_sizes.csv");
  if (rows.empty()) GTEST_SKIP() << "no table of HPCG's sizes here";
  for (const auto& row : rows) {
    const int each = row[3] == "1x1x1" ? 1 : 2;
    const std::int64_t side = std::stoll(row[0]) / each;
    const auto levels = levels_of({Grid{side, side, side}, ProcessGrid{{each, each, each}}});
    for (std::size_t l = 0; l < levels.size(); ++l) {
      EXPECT_EQ(levels[l].equations(), std::stoll(row[4 + 2 * l])) << row[0] << " level " << l;
      EXPECT_EQ(levels[l].nonzeros(), std::stoll(row[5 + 2 * l])) << row[0] << " level " << l;
    }
  }
}

TEST(HpcgReference, RowsSumToTheRightHandSide) {
  // b = 27 − entries = A·1, exactly: all are small whole numbers.
  const Geometry geometry{Grid{16, 24, 32}};
  const CsrLevel A(geometry, halo_of(geometry, serial()));
  const auto b = right_hand_side(geometry);
  Vector<double> ones(A.columns(), 1.0), image(A.rows());
  A.multiply(ones, image);
  for (std::int64_t row = 0; row < A.rows(); ++row) ASSERT_EQ(image[row], b[row]) << row;
  EXPECT_EQ(b[0], 19) << "a corner has 8 entries";
  EXPECT_EQ(b[geometry.local.index(5, 5, 5)], 0);
}

TEST(HpcgReference, SweepsAsTheTextbook) {
  const Geometry geometry = cube(16);
  const CsrLevel A(geometry, halo_of(geometry, serial()));
  PlainSmoother plain(problems::poisson(geometry.local, stencils::box27()), PlainSmoother::Kind::symmetric);
  const auto r = drawn_vector(geometry, 3);
  auto x = drawn_vector(geometry, 4), y = x.clone();
  A.smooth(r, x);
  plain.from_guess(r, y);
  for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-14) << i;
}

TEST(HpcgReference, HasThePublishedResiduals) {
  const auto rows = table("reference_history.csv");
  if (rows.empty()) GTEST_SKIP() << "no table of HPCG's residuals here";
  for (const std::int64_t side : {16, 32}) {
    double first = 0;
    const auto history = reference_history(side, &first);
    int compared = 0;
    for (const auto& row : rows) {
      if (std::stoll(row[0]) != side) continue;
      EXPECT_NEAR(first, std::stod(row[1]), 1e-5 * first);
      const double published = std::stod(row[3]);
      if (published < reached) continue;
      const auto iteration = static_cast<std::size_t>(std::stoll(row[2]));
      EXPECT_NEAR(history[iteration - 1], published, 1e-3 * published) << side << ", iteration " << iteration;
      ++compared;
    }
    EXPECT_GT(compared, 15);
  }
}

TEST(HpcgReferenceFull, HasThePublishedResidualOf64) { EXPECT_NEAR(reference_history(64).back(), 1.13589e-11, 1.13589e-14); }

TEST(HpcgReferenceFull, HasThePublishedResidualOf104) {
  EXPECT_NEAR(reference_history(104).back(), 4.99963e-08, 4.99963e-11);
}

TEST(Hpcg, TheExactSmootherIsValidInAsManyIterations) {
  for (const std::int64_t side : {16, 24, 32}) {
    Plan plan = plan_for(side, smoother_kinds().front().make);
    const Outcome outcome = run(plan);
    EXPECT_TRUE(outcome.valid()) << summary_text(outcome);
    EXPECT_EQ(outcome.spectral.unpreconditioned, 11);
    EXPECT_EQ(outcome.spectral.preconditioned, 1);
    EXPECT_GE(outcome.sets(), 1);
    EXPECT_GT(outcome.rating(), 0);
    EXPECT_LT(outcome.rating(), outcome.raw_rate());
    EXPECT_GT(outcome.percent_of_bound(), 0);
    if (side == 32) {
      EXPECT_EQ(outcome.optimized_iterations, 50);
    }
  }
}

/// Every smoother of the program has the reference's iterations, or says by its rating what it costs.
TEST(Hpcg, EverySmootherIsValid) {
  for (const auto& kind : smoother_kinds()) {
    Plan plan = plan_for(16, kind.make);
    const Outcome outcome = run(plan);
    EXPECT_TRUE(outcome.valid()) << kind.name << "\n" << summary_text(outcome);
    EXPECT_FALSE(kind.optimizations.empty()) << kind.name;
  }
}

/// The residual at the injected points and a whole product are the same cycle but for rounding; --separate moves more bytes.
TEST(Hpcg, EverySmootherHasTheResidualOfAWholeProduct) {
  const auto levels = levels_of(cube(32));
  for (const auto& kind : smoother_kinds()) {
    std::vector<double> moved;
    std::vector<std::vector<double>> histories(2);
    for (const bool separate : {false, true}) {
      std::vector<StructMatrix<double>> matrices;
      for (const auto& level : levels) matrices.push_back(problems::poisson(level.local, stencils::box27()));
      Optimised run(levels, std::move(matrices), {kind.make, separate}, serial());
      moved.push_back(run.iteration_bytes());
      CgRequest request;
      request.history = &histories[separate];
      request.iterations = 20;
      CgSeconds seconds;
      Vector<double> x(run.length());
      run.solve(run.in_own_order(right_hand_side(levels.front())), x, request, seconds);
    }
    EXPECT_LT(moved[0], 0.95 * moved[1]) << kind.name;
    ASSERT_EQ(histories[0].size(), 20u);
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_NEAR(histories[0][i], histories[1][i], 1e-6 * histories[1][i]) << kind.name << ", iteration " << i + 1;
    }
  }
}

class HpcgFull : public testing::Test {};

/// 64³: what reordering costs. Figures of the field: 50 in natural order, 52 to 53 in block multicolour, 59 in multicolour.
TEST_F(HpcgFull, IterationsByOrder) {
  std::map<std::string, int> iterations;
  for (const auto& kind : smoother_kinds()) {
    const Outcome outcome = run(plan_for(64, kind.make));
    EXPECT_TRUE(outcome.valid()) << kind.name << "\n" << summary_text(outcome);
    iterations[kind.name] = outcome.optimized_iterations;
    if (iterations[kind.name] == 50) {
      EXPECT_NEAR(outcome.residual, 1.13589e-11, 1.13589e-14) << kind.name;
    }
  }
  EXPECT_EQ(iterations["exact"], 50);
  EXPECT_NEAR(iterations["bmc"], 52.5, 1.5);
  EXPECT_NEAR(iterations["multicolour"], 59, 2);
  EXPECT_EQ(iterations["dbsr"], iterations["bmc"]) << "the same sweeps";
}

/// HPCG's conjugate gradients and cycle on 7 points, too: iterations to the residual that natural order has after 50
/// (docs/lab/dbsr.md).
TEST_F(HpcgFull, IterationsByOrderOn7And27Points) {
  const auto levels = levels_of(cube(64));
  using Counts = std::vector<int>;  // exact, multicolour, bmc, dbsr
  const std::pair<const char*, Counts> wanted[] = {{"star7", {50, 57, 54, 54}}, {"box27", {50, 59, 53, 53}}};
  for (const auto& [name, want] : wanted) {
    Counts got;
    double tolerance = 0;
    for (const auto& kind : smoother_kinds()) {
      std::vector<StructMatrix<double>> matrices;
      for (const auto& level : levels) matrices.push_back(problems::poisson(level.local, stencils::named(name)));
      Optimised run(levels, std::move(matrices), {kind.make}, serial());
      CgRequest request;
      request.iterations = tolerance > 0 ? 200 : 50;
      request.tolerance = tolerance;
      CgSeconds seconds;
      Vector<double> x(run.length());
      const auto result = run.solve(run.in_own_order(right_hand_side(levels.front())), x, request, seconds);
      if (tolerance == 0) tolerance = result.scaled() * (1 + 1e-6);
      EXPECT_LE(result.scaled(), tolerance) << name << ", " << kind.name;
      got.push_back(result.iterations);
    }
    EXPECT_EQ(got, want) << name;
  }
}

TEST(Hpcg, OursHasTheReferencesResiduals) {
  const auto levels = levels_of(cube(32));
  const auto expected = reference_history(32);
  for (const bool separate : {false, true}) {
    std::vector<StructMatrix<double>> matrices;
    for (const auto& level : levels) matrices.push_back(problems::poisson(level.local, stencils::box27()));
    Optimised run(levels, std::move(matrices), {smoother_kinds().front().make, separate}, serial());
    std::vector<double> history;
    CgRequest request;
    request.history = &history;
    CgSeconds seconds;
    Vector<double> x(run.length());
    const auto result = run.solve(run.in_own_order(right_hand_side(levels.front())), x, request, seconds);
    EXPECT_EQ(result.iterations, 50);
    for (std::size_t i = 0; i < history.size() && expected[i] > reached; ++i) {
      EXPECT_NEAR(history[i], expected[i], 1e-3 * expected[i]) << "iteration " << i + 1;
    }
    // The residual is that of x, and the solution is 1.
    for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], 1.0, 1e-9) << i;
  }
}

TEST(Hpcg, TheSameBitsForEveryNumberOfThreads) {
  std::vector<double> residuals;
  for (int count = 1; count <= 4; ++count) {
    const Outcome outcome = run(plan_for(16, smoother_kinds().front().make), count);
    residuals.push_back(outcome.residual);
    residuals.push_back(outcome.reference_residual);
    EXPECT_EQ(outcome.residual, residuals[0]) << count << " threads";
    EXPECT_EQ(outcome.reference_residual, residuals[1]) << count << " threads";
  }
}

TEST(Hpcg, AnUnsymmetricSmootherIsInvalid) {
  EXPECT_TRUE(run(plan_for(16, PlainSmoother::maker(PlainSmoother::Kind::symmetric))).valid());
  const Outcome outcome = run(plan_for(16, PlainSmoother::maker(PlainSmoother::Kind::forward_only)));
  EXPECT_FALSE(outcome.symmetry.passed()) << outcome.symmetry.mg;
  EXPECT_LE(outcome.symmetry.spmv, 1) << "the product is symmetric all the same";
  EXPECT_FALSE(outcome.valid());
  const std::string report = report_text(outcome);
  EXPECT_NE(report.find("Final Summary::HPCG result is=INVALID."), std::string::npos) << report;
  EXPECT_NE(summary_text(outcome).find("HPCG result is INVALID"), std::string::npos);
}

TEST(Hpcg, AResidualThatIsNotReachedIsInvalid) {
  Plan plan = plan_for(16, smoother_kinds().front().make);
  plan.most_iterations = 20;
  const Outcome outcome = run(plan);
  EXPECT_FALSE(outcome.residual_reached);
  EXPECT_TRUE(outcome.spectral.passed() && outcome.symmetry.passed() && outcome.norms.passed());
  EXPECT_FALSE(outcome.valid());
  const std::string report = report_text(outcome);
  EXPECT_NE(report.find("Iteration Count Information::Result=FAILED"), std::string::npos);
  EXPECT_NE(report.find("Final Summary::HPCG result is=INVALID."), std::string::npos) << report;
  EXPECT_NE(summary_text(outcome).find("HPCG result is INVALID"), std::string::npos);
}

/// Of a multigrid that multiplies by NaN.
class NanSmoother final : public PlainSmoother {
 public:
  explicit NanSmoother(const StructMatrix<double>& A) : PlainSmoother(A, Kind::symmetric) {}
  void from_guess(const V&, V& x) override { x.fill(std::nan("")); }
};

TEST(Hpcg, WhatIsNotANumberIsInvalid) {
  const Outcome outcome = run(plan_for(16, [](const StructMatrix<double>& A) { return std::make_unique<NanSmoother>(A); }));
  EXPECT_FALSE(outcome.residual_reached);
  EXPECT_FALSE(outcome.symmetry.passed());
  EXPECT_FALSE(outcome.spectral.passed());
  EXPECT_FALSE(outcome.valid());
}

TEST(Hpcg, TheTestOfTheSpectrumLeavesTheMatrixAsItWas) {
  const auto levels = levels_of(cube(16));
  std::vector<StructMatrix<double>> matrices;
  for (const auto& level : levels) matrices.push_back(problems::poisson(level.local, stencils::box27()));
  Optimised run(levels, std::move(matrices), {smoother_kinds().front().make}, serial());
  const auto x = drawn_vector(levels.front(), 1);
  Vector<double> before(run.length()), after(run.length());
  run.multiply(x, before);
  (void)test_spectrum(run, levels.front(), right_hand_side(levels.front()), {});
  run.multiply(x, after);
  for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(before[i], after[i]);
}

TEST(Hpcg, StopsWhenItIsTold) {
  int questions = 0;
  const Monitor monitor{[&] { return ++questions > 30 ? Verdict::interrupt : Verdict::proceed; }, {}};
  const Outcome outcome = run_benchmark(plan_for(16, smoother_kinds().front().make), monitor, serial());
  EXPECT_EQ(outcome.ended, Verdict::interrupt);
  EXPECT_FALSE(outcome.valid());
  EXPECT_NE(summary_text(outcome).find("there is no rating"), std::string::npos);
}

TEST(HpcgRating, CountsAsHpcgDoes) {
  const Geometry geometry = cube(16);
  const double n = 4096, nnz0 = 97336, nnz1 = 10648, nnz2 = 1000, nnz3 = 64, i = 50;
  const double set = 4 * (3 * i + 1) * n + 2 * (i + 1) * nnz0 + i * (10 * (nnz0 + nnz1 + nnz2) + 4 * nnz3);
  EXPECT_DOUBLE_EQ(count_flops(geometry, 1, i).total(), set);
  EXPECT_DOUBLE_EQ(count_flops(geometry, 3, i).total(), 3 * set);

  Outcome outcome;
  outcome.geometry = geometry;
  outcome.optimized_iterations = 100;
  outcome.set_residuals = {1e-9, 1e-9, 1e-9, 1e-9};
  outcome.seconds.total = 2;
  outcome.setup_seconds = 3;
  outcome.optimize_seconds = 2;
  const double done = 4 * (4 * 301 * n + 2 * 101 * nnz0 + 100 * (10 * (nnz0 + nnz1 + nnz2) + 4 * nnz3));
  EXPECT_DOUBLE_EQ(outcome.raw_rate(), done / 2 / 1e9);
  EXPECT_DOUBLE_EQ(outcome.rating(), done / 2 / (2 + 4 * 0.5) / 1e9) << "half the iterations count, a tenth is charged";
  EXPECT_DOUBLE_EQ(outcome.rating_without_setup(), done / 2 / (2 + 4 * 0.2) / 1e9);
  outcome.triad = 1e9;
  outcome.iteration_bytes = 2.5e6;
  EXPECT_DOUBLE_EQ(outcome.percent_of_bound(), 50) << "one second of bytes in two";
  EXPECT_DOUBLE_EQ(outcome.bound(), done / 2 / 1e9);
}

TEST(HpcgRating, VarianceOfTheSets) {
  EXPECT_EQ(norms_test({1e-9, 1e-9, 1e-9}).variance, 0);
  EXPECT_TRUE(norms_test({1e-9, 2e-9}).passed());
  const auto spread = norms_test({0.0, 0.004});
  EXPECT_DOUBLE_EQ(spread.mean, 0.002);
  EXPECT_NEAR(spread.variance, 4e-6, 1e-18);
  EXPECT_FALSE(spread.passed());
  EXPECT_FALSE(norms_test({1e-9, std::nan("")}).passed());
}

TEST(HpcgReport, HasHpcgsLines) {
  const std::string report = report_text(run(plan_for(16, smoother_kinds().front().make)));
  EXPECT_EQ(report.find("HPCG-Benchmark\nversion=3.1\n"), 0u);
  for (const char* line : {
           "Machine Summary::Distributed Processes=1\n",
           "Global Problem Dimensions::Global nx=16\n",
           "Local Domain Dimensions::nz=16\n",
           "Linear System Information::Number of Equations=4096\n",
           "Linear System Information::Number of Nonzero Terms=97336\n",
           "Multigrid Information::Coarse Grids::Grid Level=3\n",
           "Spectral Convergence Tests::Result=PASSED\n",
           "Spectral Convergence Tests::Unpreconditioned::Maximum iteration count=11\n",
           "Spectral Convergence Tests::Preconditioned::Expected iteration count=2\n",
           "Departure from Symmetry |x'Ay-y'Ax|/(2*||x||*||A||*||y||)/epsilon::Result=PASSED\n",
           "Iteration Count Information::Reference CG iterations per set=50\n",
           "Reproducibility Information::Result=PASSED\n",
           "Benchmark Time Summary::Total=",
           "GFLOP/s Summary::Total with convergence and optimization phase overhead=",
           "User Optimization Overheads::Optimization phase time (sec)=",
           "Final Summary::HPCG result is VALID with a GFLOP/s rating of=",
           "Final Summary::HPCG 2.4 rating for historical reasons is=",
           "Final Summary::Official results execution time (sec) must be at least=1800\n",
           "Final Summary::Some optimizations use the geometry of the grid=not for submission\n",
       }) {
    EXPECT_NE(report.find(line), std::string::npos) << line << "\n" << report;
  }
}

}  // namespace
}  // namespace echelon::hpcg
