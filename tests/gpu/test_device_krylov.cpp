// SPDX-License-Identifier: BSD-3-Clause
// Whole solves on a GPU beside the host's: the same reasons, iterations (±1: sums run in another order of the rows), answers
// and honesty, for the kinds of problem of table 4, all solvers and storage precisions; and how little passes between the
// two while a solver runs. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_matched_ilu.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "tests/expect_error.hpp"
#include "tests/gpu/needs_gpu.hpp"

namespace echelon {
namespace {

using V = Vector<double>;
using DeviceKrylov = GpuTest;

struct Solved {
  Report report;
  V x;
};

double true_residual(const Operator<double>& A, const V& b, const V& x) {
  V r(b.size());
  A.careful_residual(b, x, r);
  double square = 0, of_b = 0;
  for (std::int64_t i = 0; i < r.size(); ++i) square += r[i] * r[i], of_b += b[i] * b[i];
  return std::sqrt(square / of_b);
}

struct Setting {
  std::string solver;
  IluOptions ilu = {};
  bool positive = false;
  KrylovOptions krylov = {};
};

Solved on_host(const StructMatrix<double>& A, const V& b, const Setting& by) {
  const Ilu<double> M = by.positive ? ic(A, by.ilu) : ilu(A, by.ilu);
  V x(A.rows(), 0.0);
  // The GPU has whole products.
  KrylovOptions options = by.krylov;
  options.product = Product::full;
  Report report = solve(by.solver, A, b, x, M, options);
  return {std::move(report), std::move(x)};
}

Solved on_gpu(const StructMatrix<double>& A, const V& b, const Setting& by) {
  const Device gpu = Device::cuda();
  const TileMatrix tiles(A, by.ilu.fill, gpu);
  const DeviceIlu M(tiles, by.ilu, by.positive);
  const V there = b.to(gpu);
  V x(A.rows(), 0.0, gpu);
  Report report = solve(by.solver, tiles, there, x, M, by.krylov);
  return {std::move(report), x.to(Device::host())};
}

/// Short recurrences that wander (BiCGStab) may part by more than one iteration; `slack` says by how many.
void expect_same_solve(const StructMatrix<double>& A, const Setting& by, std::int64_t slack, const std::string& about) {
  const V b(A.rows(), 1.0);
  const Solved host = on_host(A, b, by), gpu = on_gpu(A, b, by);
  EXPECT_EQ(gpu.report.converged, host.report.converged) << about << ": " << gpu.report.message;
  EXPECT_EQ(gpu.report.reason, host.report.reason) << about << ": " << gpu.report.message;
  EXPECT_LE(std::abs(gpu.report.iterations - host.report.iterations), slack)
      << about << ": " << gpu.report.iterations << " on the GPU, " << host.report.iterations << " on the host";
  EXPECT_NEAR(gpu.report.relative_residual, true_residual(A, b, gpu.x), 1e-6 * gpu.report.relative_residual) << about;
  if (!gpu.report.converged && slack == 0) {
    // x is that of the last iteration, not of the one before.
    EXPECT_NEAR(gpu.report.relative_residual, host.report.relative_residual, 1e-6 * host.report.relative_residual) << about;
  }
  if (!gpu.report.converged) return;
  EXPECT_LE(true_residual(A, b, gpu.x), by.krylov.rtol * (1 + 1e-10)) << about;
  double apart = 0, largest = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) {
    apart = std::max(apart, std::abs(gpu.x[i] - host.x[i]));
    largest = std::max(largest, std::abs(host.x[i]));
  }
  EXPECT_LE(apart, 1e-3 * largest) << about;
  EXPECT_EQ(gpu.report.preconditioner.precision, host.report.preconditioner.precision) << about;
  EXPECT_EQ(gpu.report.cg_form, host.report.cg_form) << about;
}

TEST_F(DeviceKrylov, AnOperatorWithoutAResidualIsRefusedThereInWords) {
  const FunctionOperator<double> copies(3, [](const V& x, V& y) { y.copy_from(x); });
  const Device gpu = Device::cuda();
  const V b(3, 1.0, gpu), x(3, 0.0, gpu);
  V r(3, 0.0, gpu);
  EXPECT_ERROR(copies.residual(b, x, r), device, "no residual");
}

TEST_F(DeviceKrylov, ConjugateGradientsOnSymmetricProblems) {
  for (const int fill : {0, 1}) {
    Setting by{"cg", {.fill = fill}, true};
    by.krylov.cg_form = CgForm::plain;
    expect_same_solve(problems::poisson({41, 42, 43}, stencils::star7()), by, 1, "poisson star7");
    expect_same_solve(problems::poisson({41, 42, 43}, stencils::box27()), by, 1, "poisson box27");
    expect_same_solve(problems::poisson({200, 201, 1}, stencils::star5()), by, 1, "poisson star5");
    expect_same_solve(problems::variable_poisson({41, 42, 43}, stencils::star7()), by, 1, "varpoisson star7");
  }
}

/// What compute-sanitizer is run on.
TEST_F(DeviceKrylov, OneSmallCaseOfEachKernel) {
  const auto A = problems::poisson({6, 5, 4}, stencils::star7());
  Setting plain{"cg", {}, true};
  plain.krylov.cg_form = CgForm::plain;
  expect_same_solve(A, plain, 1, "plain cg");
  expect_same_solve(A, {"cg", {}, true}, 1, "cg");
  for (const char* solver : {"gmres", "bicgstab"}) expect_same_solve(A, {solver}, 2, solver);
}

TEST_F(DeviceKrylov, GmresAndFlexibleGmres) {
  for (const char* solver : {"gmres", "fgmres"}) {
    for (const BasisPrecision basis : {BasisPrecision::fp64, BasisPrecision::fp32}) {
      Setting by{solver};
      by.krylov.restart = 30;
      by.krylov.basis = basis;
      expect_same_solve(problems::convection_diffusion({41, 42, 43}, stencils::star7()), by, 1, "convdiff");
      expect_same_solve(problems::navier_stokes({17, 18, 19}), by, 1, "navierstokes");
      expect_same_solve(problems::euler({17, 18, 19}), by, 1, "euler");
      expect_same_solve(problems::cahn_hilliard({23, 24, 25}), by, 1, "cahnhilliard");
    }
  }
}

TEST_F(DeviceKrylov, GmresFromTheLeft) {
  Setting by{"gmres"};
  by.krylov.side = Side::left;
  expect_same_solve(problems::convection_diffusion({31, 32, 33}, stencils::star7()), by, 1, "convdiff from the left");
}

TEST_F(DeviceKrylov, Bicgstab) {
  const Setting by{"bicgstab"};
  expect_same_solve(problems::convection_diffusion({41, 42, 43}, stencils::star7()), by, 3, "convdiff");
  expect_same_solve(problems::navier_stokes({17, 18, 19}), by, 2, "navierstokes");
  expect_same_solve(problems::random({33, 34, 35}, stencils::star13(), 3, 5), by, 2, "random");
}

TEST_F(DeviceKrylov, NarrowFactorsUnderDoubleVectors) {
  for (const Stored stored : {Stored::fp32, Stored::bf16, Stored::fp16}) {
    Setting cg{"cg", {}, true}, gmres{"gmres"};
    cg.ilu.precision = gmres.ilu.precision = stored;
    expect_same_solve(problems::poisson({41, 42, 43}, stencils::star7()), cg, 1, word(stored));
    expect_same_solve(problems::navier_stokes({17, 18, 19}), gmres, 1, word(stored));
  }
}

TEST_F(DeviceKrylov, EndsForTheSameReasons) {
  const auto A = problems::poisson({31, 32, 33}, stencils::star7());
  const V b(A.rows(), 1.0);
  Setting few{"cg", {}, true};
  few.krylov.max_it = 5;
  expect_same_solve(A, few, 0, "few iterations");
  few.solver = "gmres";
  expect_same_solve(A, few, 0, "few iterations of gmres");
  Setting stopped{"cg", {}, true};
  stopped.krylov.monitor = [](std::int64_t iteration, double) {
    return iteration == 7 ? Verdict::interrupt : Verdict::proceed;
  };
  expect_same_solve(A, stopped, 0, "interrupted");
  Setting absolute{"gmres"};
  absolute.krylov.rtol = 0;
  absolute.krylov.atol = 1e-3;
  EXPECT_EQ(on_gpu(A, b, absolute).report.reason, Reason::atol);
  Setting backward{"cg", {}, true};
  backward.krylov.nrbe = 1e-6;
  backward.krylov.rtol = 1e-14;
  EXPECT_EQ(on_gpu(A, b, backward).report.reason, Reason::nrbe);
  // Zero and a start that is the answer.
  const Solved zero = on_gpu(A, V(A.rows(), 0.0), {"cg", {}, true});
  EXPECT_TRUE(zero.report.converged);
  for (const double value : zero.x) ASSERT_EQ(value, 0);
}

TEST_F(DeviceKrylov, AnIndefiniteMatrixIsSaidByConjugateGradients) {
  auto A = problems::poisson({9, 10, 11}, stencils::star7());
  for (std::int64_t point = 0; point < A.grid().points(); ++point) A.block(point, A.stencil().center())[0] = 3;
  const Device gpu = Device::cuda();
  const TileMatrix tiles(A, 0, gpu);
  const Identity<double> none;
  const V b = V(A.rows(), 1.0).to(gpu);
  V x(A.rows(), 0.0, gpu);
  const Report report = cg(tiles, b, x, none);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.reason, Reason::indefinite_matrix) << report.message;
}

TEST_F(DeviceKrylov, AFailedFactorizationEndsTheSolve) {
  auto A = problems::poisson({9, 10, 11}, stencils::star7());
  A.block(321, A.stencil().center())[0] = 0;
  Setting by{"gmres", {.shift = ShiftPolicy::none}};
  A.block(0, A.stencil().center())[0] = 0;
  const V b(A.rows(), 1.0);
  const Solved host = on_host(A, b, by), gpu = on_gpu(A, b, by);
  EXPECT_EQ(gpu.report.reason, Reason::pc_failed);
  EXPECT_EQ(gpu.report.reason, host.report.reason);
  EXPECT_EQ(gpu.report.message, host.report.message);
}

TEST_F(DeviceKrylov, ANullSpaceIsProjectedOut) {
  // Neumann: rows of a cube that sum to zero.
  const Grid grid{15, 16, 17};
  StructMatrix<double> A(grid, stencils::star7());
  A.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int entry, std::span<double> block) {
    if (entry != A.stencil().center()) {
      block[0] = -1;
      return;
    }
    block[0] = 0;
    for (const Offset& o : A.stencil().offsets()) block[0] += grid.contains(i + o.x, j + o.y, k + o.z);
    block[0] -= 1;
  });
  const Device gpu = Device::cuda();
  V b(A.rows());
  double mean = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) mean += b[i] = std::sin(static_cast<double>(i));
  mean /= static_cast<double>(b.size());
  const V ones(A.rows(), 1.0), ones_there = ones.to(gpu);
  const TileMatrix tiles(A, 0, gpu);
  const Identity<double> none;
  // What no x can reach is said there as here.
  for (const double out_of_reach : {0.0, 0.5}) {
    for (double& value : b) value -= mean - out_of_reach;
    mean = out_of_reach;
    const V b_there = b.to(gpu);
    V x(A.rows(), 0.0), x_there(A.rows(), 0.0, gpu);
    KrylovOptions options;
    options.null_space = &ones;
    const Report host = cg(A, b, x, none, options);
    options.null_space = &ones_there;
    const Report there = cg(tiles, b_there, x_there, none, options);
    EXPECT_EQ(there.converged, out_of_reach == 0) << there.message;
    EXPECT_EQ(there.reason, host.reason);
    EXPECT_NEAR(there.inconsistent_part, host.inconsistent_part, 1e-12);
    EXPECT_LE(std::abs(there.iterations - host.iterations), 1);
  }
}

TEST_F(DeviceKrylov, ARightSideFarFromOneIsScaled) {
  const auto A = problems::poisson({9, 10, 11}, stencils::star7());
  const Device gpu = Device::cuda();
  const TileMatrix tiles(A, 0, gpu);
  const Identity<double> none;
  V b(A.rows());
  for (std::int64_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i));
  for (const int power : {-1000, 1000}) {
    V scaled(b.size());
    for (std::int64_t i = 0; i < b.size(); ++i) scaled[i] = std::ldexp(b[i], power);
    const V ordinary_there = b.to(gpu), scaled_there = scaled.to(gpu);
    V x(b.size(), 0.0, gpu), y(b.size(), 0.0, gpu);
    const Report ordinary = cg(tiles, ordinary_there, x, none, {}), report = cg(tiles, scaled_there, y, none, {});
    EXPECT_TRUE(report.converged) << report.message;
    EXPECT_EQ(report.iterations, ordinary.iterations);
    const V here = x.to(Device::host()), there = y.to(Device::host());
    for (std::int64_t i = 0; i < here.size(); ++i) ASSERT_EQ(std::ldexp(there[i], -power), here[i]) << i;
  }
}

TEST_F(DeviceKrylov, MixedPlacesAreRefused) {
  const auto A = problems::poisson({8, 8, 8}, stencils::star7());
  const TileMatrix tiles(A, 0, Device::cuda());
  const Identity<double> none;
  const V b(A.rows(), 1.0);
  V x(A.rows(), 0.0);
  EXPECT_THROW((void)cg(tiles, b, x, none), Error);
  const V there = b.to(Device::cuda());
  EXPECT_THROW((void)cg(tiles, there, x, none), Error);
  V bad(A.rows(), 1.0);
  bad[77] = std::nan("");
  const V bad_there = bad.to(Device::cuda());
  V x_there = x.to(Device::cuda());
  try {
    (void)cg(tiles, bad_there, x_there, none);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::nonfinite_value);
    EXPECT_NE(std::string(error.what()).find("77"), std::string::npos) << error.what();
  }
}

/// No array passes between host and GPU inside an iteration; numbers do, a bounded number of times.
TEST_F(DeviceKrylov, LittlePassesBetweenHostAndGpu) {
  const auto A = problems::poisson({41, 42, 43}, stencils::star7());
  const V b(A.rows(), 1.0);
  struct Bound {
    const char* solver;
    std::int64_t waits_an_iteration;
  };
  for (const Bound& bound : {Bound{"cg", 1}, Bound{"gmres", 2}, Bound{"fgmres", 3}, Bound{"bicgstab", 4}}) {
    Setting by{bound.solver};
    by.krylov.rtol = 1e-10;
    by.krylov.cg_form = CgForm::plain;
    const Report report = on_gpu(A, b, by).report;
    // At the ends: the input's finiteness, norms and true residuals, and whether a sweep had given up.
    EXPECT_LE(report.transfers.waits, bound.waits_an_iteration * report.iterations + 16 * (report.restarts + 1))
        << bound.solver << ", " << report.iterations << " iterations, " << report.restarts << " restarts";
    EXPECT_LE(report.transfers.copies, 4 + 2 * (report.restarts + report.residual_replacements)) << bound.solver;
    EXPECT_LE(report.transfers.bytes, 64 * report.transfers.copies) << bound.solver;
    EXPECT_GT(report.iterations, 10) << bound.solver;
  }
}

TEST_F(DeviceKrylov, TheAutomaticSolveRunsThere) {
  const auto A = problems::variable_poisson({31, 32, 33}, stencils::star7());
  const V b(A.rows(), 1.0);
  V x(A.rows(), 0.0);
  SolveRequest request;
  request.device = Device::cuda();
  const AutoOutcome outcome = solve_automatically(&A, b, x, request);
  EXPECT_TRUE(outcome.report.converged) << outcome.report.message;
  EXPECT_EQ(outcome.choice.solver, "cg");
  EXPECT_LE(true_residual(A, b, x), 1e-8 * (1 + 1e-10));
  request.wishes.pc = "jacobi";
  EXPECT_THROW((void)solve_automatically(&A, b, x, request), Error);
}

TEST_F(DeviceKrylov, BlockCsrIsSolvedThere) {
  const auto flow = to_block_csr(problems::navier_stokes({9, 10, 11}));
  const auto heat = to_block_csr(problems::variable_poisson({21, 22, 23}, stencils::star7()));
  for (const BlockCsr<double>* A : {&flow, &heat}) {
    const V b(A->rows(), 1.0);
    for (const Ordering ordering : {Ordering::natural, Ordering::rcm}) {
      SolveRequest request;
      request.recognise_stencils = false;
      request.wishes.pc = "ilu";
      request.wishes.options.ilu.ordering = ordering;
      V x(A->rows(), 0.0), on_host(A->rows(), 0.0);
      const AutoOutcome host = solve_automatically(A, b, on_host, request);
      request.device = Device::cuda();
      const AutoOutcome outcome = solve_automatically(A, b, x, request);
      EXPECT_TRUE(outcome.report.converged) << outcome.report.message;
      EXPECT_NEAR(static_cast<double>(outcome.report.iterations), static_cast<double>(host.report.iterations), 1);
      EXPECT_LE(true_residual(*A, b, x), 1e-8 * (1 + 1e-10));
      const double growth = host.report.preconditioner.growth;
      EXPECT_NEAR(outcome.report.preconditioner.growth, growth, 1e-13 * growth);
    }
    SolveRequest request;
    request.device = Device::cuda();
    request.wishes.pc = "jacobi";
    V x(A->rows(), 0.0);
    EXPECT_THROW((void)solve_automatically(A, b, x, request), Error);
  }
}

/// A shifted diagonal: zeros where pivots are looked for, and rows of very different size.
BlockCsr<double> without_a_diagonal(std::int32_t n) {
  std::vector<Triplet<double>> triplets;
  for (std::int32_t i = 0; i < n; ++i) {
    const double size = std::pow(10.0, i % 7 - 3);
    triplets.push_back({i, (i + 1) % n, 4 * size});
    triplets.push_back({i, (i + 5) % n, size});
    triplets.push_back({i, (i * 7 + 3) % n, 0.5 * size});
  }
  return from_triplets<double>(n, n, triplets);
}

TEST_F(DeviceKrylov, MatchedRowsHaveTheBitsOfTheHost) {
  const auto A = without_a_diagonal(997);
  const Device gpu = Device::cuda();
  V r(A.rows()), z(A.rows());
  for (std::int64_t i = 0; i < r.size(); ++i) r[i] = std::sin(static_cast<double>(i));
  for (const int fill : {0, 1, 5}) {
    const MatchedIlu host(A, {.fill = fill});
    const IluOptions options{.fill = fill};
    const DeviceMatchedIlu there(
        A, [&](const auto& B) { return std::make_unique<DeviceBlockIlu>(B.to(gpu), options); }, gpu);
    EXPECT_EQ(there.report().ordering, host.report().ordering);
    host.apply(r, z);
    V on_gpu(A.rows(), gpu);
    there.apply(r.to(gpu), on_gpu);
    there.settle();
    const V back = on_gpu.to(Device::host());
    for (std::int64_t i = 0; i < r.size(); ++i) ASSERT_EQ(back[i], z[i]) << "fill " << fill << ", " << i;
  }
  SolveRequest request;
  V on_host(A.rows(), 0.0), x(A.rows(), 0.0);
  const AutoOutcome host = solve_automatically(&A, r, on_host, request);
  EXPECT_TRUE(host.choice.options.match_rows);
  request.device = gpu;
  const AutoOutcome outcome = solve_automatically(&A, r, x, request);
  EXPECT_TRUE(outcome.report.converged) << outcome.report.message;
  EXPECT_EQ(outcome.choice.name(), host.choice.name());
  EXPECT_NEAR(static_cast<double>(outcome.report.iterations), static_cast<double>(host.report.iterations), 1);
}

TEST_F(DeviceKrylov, BlockCsrThatIsAStencilIsSolvedOnItsGrid) {
  for (const auto& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    const Grid grid = stencil.find({0, 0, 1}) < 0 ? Grid{61, 40, 1} : Grid{13, 14, 15};
    for (const int dof : {1, 2, 3, 5}) {
      SCOPED_TRACE(testing::Message() << name << ", b " << dof);
      const auto A = problems::random(grid, stencil, dof, 11);
      const auto rows = to_block_csr(A);
      const V b(A.rows(), 1.0);
      SolveRequest request;
      request.device = Device::cuda();
      request.wishes.pc = "ilu";
      V x(b.size(), 0.0), direct(b.size(), 0.0), plain(b.size(), 0.0);
      const AutoOutcome outcome = solve_automatically(&rows, b, x, request);
      EXPECT_TRUE(outcome.report.converged) << outcome.report.message;
      EXPECT_TRUE(outcome.report.recognised.starts_with(name)) << outcome.report.recognised;
      const AutoOutcome given = solve_automatically(&A, b, direct, request);
      EXPECT_EQ(outcome.report.history, given.report.history);
      for (std::int64_t i = 0; i < b.size(); ++i) ASSERT_EQ(x[i], direct[i]);
      request.recognise_stencils = false;
      const AutoOutcome off = solve_automatically(&rows, b, plain, request);
      EXPECT_EQ(off.report.recognised, "");
      EXPECT_NEAR(static_cast<double>(off.report.iterations), static_cast<double>(outcome.report.iterations), 1);
    }
  }
}

TEST_F(DeviceKrylov, RepeatsToTheBit) {
  const auto A = problems::navier_stokes({17, 18, 19});
  const V b(A.rows(), 1.0);
  const Solved first = on_gpu(A, b, {"gmres"}), second = on_gpu(A, b, {"gmres"});
  EXPECT_EQ(first.report.history, second.report.history);
  for (std::int64_t i = 0; i < b.size(); ++i) ASSERT_EQ(first.x[i], second.x[i]);
}

}  // namespace
}  // namespace echelon
