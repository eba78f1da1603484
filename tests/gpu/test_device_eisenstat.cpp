// SPDX-License-Identifier: BSD-3-Clause
// CG in Eisenstat's form on a GPU: the iterates of the host's to rounding, its iteration counts, reasons and honesty, on
// stencils whose ILU(0) changes only the diagonal, thin grids and jumping coefficients; where it may be taken; and how
// little passes between host and GPU. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu_gpu/device_ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/queued_triangles.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

using reference::waves;
using V = Vector<double>;
using Matrix = StructMatrix<double>;
using DeviceEisenstat = GpuTest;

Matrix jumping(Grid grid, const Stencil& stencil) {
  return problems::variable_poisson(grid, stencil, {.kappa = problems::jump_coefficient(1e4)});
}

struct Solved {
  Report report;
  V x;
};

Solved on_host(const Matrix& A, const V& b, const KrylovOptions& options, const IluOptions& ilu = {}) {
  const auto M = ic(A, ilu);
  V x(A.rows(), 0.0);
  Report report = cg(A, b, x, M, options);
  return {std::move(report), std::move(x)};
}

Solved on_gpu(const Matrix& A, const V& b, const KrylovOptions& options, const IluOptions& ilu = {}) {
  const Device gpu = Device::cuda();
  const TileMatrix tiles(A, ilu.fill, gpu);
  const DeviceIlu M(tiles, ilu, true);
  const V there = b.to(gpu);
  V x(A.rows(), 0.0, gpu);
  Report report = cg(tiles, there, x, M, options);
  return {std::move(report), x.to(Device::host())};
}

double true_residual(const Matrix& A, const V& b, const V& x) {
  V r(A.rows());
  A.careful_residual(b, x, r);
  return static_cast<double>(reference::exact_norm(r) / reference::exact_norm(b));
}

/// max |x − y| / max |y|
double apart(const V& x, const V& y) {
  double off = 0, largest = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    off = std::max(off, std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(y[i]));
  }
  return off / largest;
}

void expect_solve_of_host(const Matrix& A, double rtol, const char* about, const IluOptions& ilu = {}) {
  const V b = waves(A.rows());
  const KrylovOptions options{.rtol = rtol, .cg_form = CgForm::eisenstat};
  const Solved host = on_host(A, b, options, ilu), gpu = on_gpu(A, b, options, ilu);
  EXPECT_EQ(gpu.report.cg_form, "eisenstat") << about;
  EXPECT_EQ(gpu.report.product, "none") << about;
  EXPECT_EQ(gpu.report.reason, host.report.reason) << about << ": " << gpu.report.message;
  EXPECT_TRUE(gpu.report.converged) << about;
  EXPECT_LE(std::abs(gpu.report.iterations - host.report.iterations), 1)
      << about << ": " << gpu.report.iterations << " on the GPU, " << host.report.iterations << " on the host";
  EXPECT_LE(true_residual(A, b, gpu.x), rtol) << about;
  EXPECT_NEAR(gpu.report.relative_residual, true_residual(A, b, gpu.x), 1e-6 * gpu.report.relative_residual) << about;
  ASSERT_EQ(gpu.report.history.size(), static_cast<std::size_t>(gpu.report.iterations) + 1) << about;
  const std::size_t both = std::min(gpu.report.history.size(), host.report.history.size());
  for (std::size_t k = 0; k < both; ++k) {
    if (host.report.history[k] < rtol) break;  // the last one may be rounding alone
    EXPECT_LT(std::abs(std::log(gpu.report.history[k] / host.report.history[k])), std::log(2.0))
        << about << ", iteration " << k;
  }
}

TEST_F(DeviceEisenstat, SolvesAsTheHostDoes) {
  expect_solve_of_host(problems::poisson({41, 42, 43}, stencils::star7()), 1e-8, "poisson star7");
  expect_solve_of_host(problems::poisson({200, 201, 1}, stencils::star5()), 1e-8, "poisson star5");
  expect_solve_of_host(jumping({39, 37, 38}, stencils::star7()), 1e-8, "jumps star7");
  expect_solve_of_host(jumping({150, 141, 1}, stencils::star5()), 1e-9, "jumps star5");
  expect_solve_of_host(problems::poisson({16, 15, 14}, stencils::star7()), 1e-8, "shifted",
                       {.shift = ShiftPolicy::value, .shift_value = 0.3});
}

TEST_F(DeviceEisenstat, ThinGrids) {
  for (const Grid& grid : {Grid{37, 5, 11}, Grid{1, 40, 33}, Grid{90, 1, 35}, Grid{300, 2, 1}, Grid{2, 2, 2}}) {
    expect_solve_of_host(problems::poisson(grid, stencils::star7()), 1e-10, "thin");
  }
  expect_solve_of_host(problems::poisson({333, 1, 1}, Stencil({{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}})), 1e-10, "a line");
}

TEST_F(DeviceEisenstat, IteratesAreTheHosts) {
  // On this problem every residual is smaller than the one before, so that the best iterate is the last one.
  const auto A = problems::variable_poisson({33, 30, 29}, stencils::star7(), {.kappa = problems::smooth_coefficient(4)});
  const V b = waves(A.rows());
  for (const std::int64_t steps : {1, 2, 3, 5, 10}) {
    const KrylovOptions options{.rtol = 0, .max_it = steps, .cg_form = CgForm::eisenstat};
    const Solved host = on_host(A, b, options), gpu = on_gpu(A, b, options);
    EXPECT_EQ(gpu.report.iterations, steps);
    EXPECT_EQ(gpu.report.reason, Reason::max_it);
    EXPECT_LT(apart(gpu.x, host.x), 1e-10) << steps << " iterations";
    // After 1, 2, 4, … iterations the norm is none of the estimates.
    if (steps == 1) {
      EXPECT_NEAR(gpu.report.history[1], host.report.history[1], 1e-10 * host.report.history[1]);
    }
  }
}

TEST_F(DeviceEisenstat, IsTakenWhereItCanBe) {
  const auto A = problems::poisson({12, 13, 14}, stencils::star7());
  const V b = waves(A.rows());
  EXPECT_EQ(on_gpu(A, b, {}).report.cg_form, "eisenstat");
  EXPECT_EQ(on_gpu(A, b, {.cg_form = CgForm::plain}).report.cg_form, "plain");
  EXPECT_EQ(on_gpu(A, b, {}, {.fill = 1}).report.cg_form, "plain");
  EXPECT_EQ(on_gpu(A, b, {}, {.precision = Stored::fp32}).report.cg_form, "plain");
  EXPECT_EQ(on_gpu(problems::poisson({12, 13, 14}, stencils::box27()), b, {}).report.cg_form, "plain");
  EXPECT_THROW((void)on_gpu(A, b, {.cg_form = CgForm::eisenstat}, {.fill = 1}), Error);
}

TEST_F(DeviceEisenstat, NewValuesPartTheWays) {
  auto A = problems::poisson({12, 13, 14}, stencils::star7());
  const Device gpu = Device::cuda();
  TileMatrix tiles(A, 0, gpu);
  const TileMatrix same(A, 0, gpu);
  DeviceIlu M(tiles, {}, true);
  EXPECT_NE(M.queued_triangles(tiles), nullptr);
  EXPECT_EQ(M.queued_triangles(same), nullptr);
  for (double& value : A.values()) value *= 2;
  tiles.assign(A);
  EXPECT_EQ(M.queued_triangles(tiles), nullptr);
  ASSERT_TRUE(M.refactor(tiles).ok);
  EXPECT_NE(M.queued_triangles(tiles), nullptr);
}

TEST_F(DeviceEisenstat, EndsForTheHostsReasons) {
  const auto A = problems::poisson({31, 32, 33}, stencils::star7());
  const V b = waves(A.rows());
  const auto expect_same = [&](const KrylovOptions& options, const V& right, const char* about) {
    const Solved host = on_host(A, right, options), gpu = on_gpu(A, right, options);
    EXPECT_EQ(gpu.report.reason, host.report.reason) << about << ": " << gpu.report.message;
    EXPECT_LE(std::abs(gpu.report.iterations - host.report.iterations), 1) << about;
    EXPECT_EQ(gpu.report.cg_form, host.report.cg_form) << about;
  };
  expect_same({.max_it = 5}, b, "few iterations");
  expect_same({.monitor = [](std::int64_t k, double) { return k == 7 ? Verdict::interrupt : Verdict::proceed; }}, b,
              "interrupted");
  expect_same({.rtol = 0, .atol = 1e-3}, b, "atol");
  expect_same({.rtol = 1e-14, .nrbe = 1e-6}, b, "nrbe");
  expect_same({}, V(A.rows(), 0.0), "b = 0");
  // Below what the arithmetic can reach: the recurrence gets there, b − A x does not. Each denial starts anew.
  const Solved stuck = on_gpu(problems::poisson({9, 9, 9}, stencils::star7()), waves(729), {.rtol = 1e-30});
  EXPECT_EQ(stuck.report.reason, Reason::stagnated) << stuck.report.message;
  EXPECT_GT(stuck.report.residual_replacements, 1);
  EXPECT_LT(stuck.report.relative_residual, 1e-15);
  // −A: every pivot is negative, and so is r'M⁻¹r.
  auto negative = problems::poisson({9, 10, 11}, stencils::star7());
  for (double& value : negative.values()) value = -value;
  const Device gpu = Device::cuda();
  const TileMatrix tiles(negative, 0, gpu);
  const DeviceIlu M(tiles, {});
  const V there = waves(negative.rows()).to(gpu);
  V x(negative.rows(), 0.0, gpu);
  EXPECT_EQ(cg(tiles, there, x, M).reason, Reason::indefinite_pc);
  for (const double value : x.to(Device::host())) ASSERT_EQ(value, 0);
}

TEST_F(DeviceEisenstat, AnIndefiniteMatrixIsSaid) {
  // Pivots shifted to be positive under a matrix that is not.
  auto A = problems::poisson({9, 10, 11}, stencils::star7());
  const double center = A.block(0, A.stencil().center())[0];
  for (std::int64_t point = 0; point < A.grid().points(); ++point) {
    A.block(point, A.stencil().center())[0] = center / 2;
  }
  const IluOptions ilu{.shift = ShiftPolicy::value, .shift_value = 2};
  const V b = waves(A.rows());
  const Solved host = on_host(A, b, {}, ilu), gpu = on_gpu(A, b, {}, ilu);
  EXPECT_EQ(host.report.reason, Reason::indefinite_matrix) << host.report.message;
  EXPECT_EQ(gpu.report.reason, Reason::indefinite_matrix) << gpu.report.message;
  EXPECT_EQ(gpu.report.cg_form, "eisenstat");
  EXPECT_EQ(gpu.report.iterations, host.report.iterations);
}

TEST_F(DeviceEisenstat, LittlePassesBetweenHostAndGpu) {
  const auto A = problems::poisson({61, 62, 63}, stencils::star7());
  const Report report = on_gpu(A, waves(A.rows()), {.rtol = 1e-10}).report;
  EXPECT_EQ(report.cg_form, "eisenstat");
  EXPECT_GT(report.iterations, 40);
  // One look an iteration, a second where the norm is formed, and what there is at the ends.
  EXPECT_LE(report.transfers.waits, report.iterations + report.iterations / 4 + 28) << report.iterations;
  EXPECT_LE(report.transfers.copies, 4 + 2 * report.residual_replacements);
  EXPECT_LE(report.transfers.bytes, 64 * report.transfers.copies);
}

TEST_F(DeviceEisenstat, RepeatsToTheBit) {
  const auto A = jumping({39, 37, 38}, stencils::star7());
  const V b = waves(A.rows());
  const Solved first = on_gpu(A, b, {}), second = on_gpu(A, b, {});
  EXPECT_EQ(first.report.history, second.report.history);
  for (std::int64_t i = 0; i < b.size(); ++i) ASSERT_EQ(first.x[i], second.x[i]);
}

}  // namespace
}  // namespace echelon
