// SPDX-License-Identifier: BSD-3-Clause
// HPCG on a GPU: injection, Gauss-Seidel in tile order and the whole V-cycle have the bits that the same classes have on the
// host; whole runs are VALID in the reference's iterations; repeats; little passes between host and GPU.
#include <gtest/gtest.h>

#include <cmath>

#include "apps/hpcg/benchmark.hpp"
#include "apps/hpcg/report_text.hpp"
#include "apps/hpcg/tile_run.hpp"
#include "apps/hpcg/validation.hpp"
#include "echelon/base/transfers.hpp"
#include "echelon/matrix/grid_gpu/injection.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/grid_gpu/tile_gauss_seidel.hpp"
#include "tests/expect_error.hpp"
#include "tests/gpu/needs_gpu.hpp"

namespace echelon::hpcg {
namespace {

using DeviceHpcg = GpuTest;
using DeviceHpcgFull = GpuTest;
using V = Vector<double>;

V wavy(std::int64_t n, double phase) {
  V v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  return v;
}

/// From one to the other; equal bits, padding too.
void expect_same(const V& expected, const V& there) {
  const V got = there.to(Device::host());
  ASSERT_EQ(got.size(), expected.size());
  for (std::int64_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], expected[i]) << "place " << i << " of " << got.size();
}

/// The same of the points alone, whatever a sweep leaves in padding.
void expect_same_points(const TileMatrix& order, const V& expected, const V& there) {
  V here(order.rows()), got(order.rows());
  order.give_back(expected, here);
  order.give_back(there.to(Device::host()), got);
  expect_same(here, got);
}

V kept(const TileGaussSeidel& S, const V& natural) {
  V v(S.matrix().kept_size(), 0.0, S.matrix().device());
  S.matrix().keep(natural.to(S.matrix().device()), v);
  return v;
}

void expect_smoother_of_the_host(const StructMatrix<double>& A, const StructMatrix<double>& B) {
  SCOPED_TRACE(testing::Message() << A.stencil().name() << " " << A.grid().nx << "x" << A.grid().ny << "x" << A.grid().nz);
  TileGaussSeidel here(A, Device::host()), there(A, Device::cuda());
  const V r = wavy(A.rows(), 0.5), guess = wavy(A.rows(), 3.0);
  for (int values = 0; values < 2; ++values) {
    V x = kept(here, guess), y = kept(there, guess);
    V z(x.size(), 0.0), w(y.size(), 0.0, Device::cuda());
    here.from_zero(kept(here, r), z);
    there.from_zero(kept(there, r), w);
    there.settle();
    ASSERT_NO_FATAL_FAILURE(expect_same_points(here.matrix(), z, w)) << "from zero";
    here.from_guess(kept(here, r), x);
    there.from_guess(kept(there, r), y);
    there.settle();
    ASSERT_NO_FATAL_FAILURE(expect_same_points(here.matrix(), x, y)) << "from a guess";
    V own = kept(there, r);
    there.from_zero(own, own);
    there.settle();
    ASSERT_NO_FATAL_FAILURE(expect_same_points(here.matrix(), z, own)) << "in place";
    here.refresh(B);
    there.refresh(B);
  }
}

std::vector<StructMatrix<double>> matrices_of(const std::vector<Geometry>& levels) {
  std::vector<StructMatrix<double>> matrices;
  for (const auto& level : levels) matrices.push_back(problems::poisson(level.local, stencils::box27()));
  return matrices;
}

Plan plan_for(const Grid& grid) {
  const SmootherKind& exact = smoother_kinds().front();
  Plan plan = make_plan({grid}, exact, false);
  plan.seconds = 0.1;
  plan.reference_calls = 1;
  return tile_plan(std::move(plan), exact, Device::cuda());
}

/// What compute-sanitizer is run on.
TEST_F(DeviceHpcg, OneSmallCaseOfEachKernel) {
  expect_smoother_of_the_host(problems::random({6, 5, 4}, stencils::box27(), 1, 1),
                              problems::random({6, 5, 4}, stencils::box27(), 1, 2));
  const auto levels = levels_of({Grid{16, 16, 16}});
  TileRun run(matrices_of(levels), Device::cuda());
  V r = run.in_own_order(drawn_vector(levels.front(), 1)), x = run.zeros();
  run.precondition(r, x);
  EXPECT_GT(run.multiply(x, r), 0);
}

TEST_F(DeviceHpcg, GaussSeidelHasTheBitsOfTheHost) {
  for (const auto& name : stencils::names()) {
    const Stencil stencil = stencils::named(name);
    for (const Grid grid : {Grid{19, 16, 15}, Grid{40, 33, 17}, Grid{1, 9, 2}, Grid{50, 1, 1}, Grid{2, 2, 2}, Grid{1, 1, 1}}) {
      expect_smoother_of_the_host(problems::random(grid, stencil, 1, 5), problems::random(grid, stencil, 1, 6));
    }
  }
}

TEST_F(DeviceHpcg, FromZeroIsSgs) {
  const auto A = problems::poisson({33, 20, 18}, stencils::box27());
  const TileGaussSeidel S(A, Device::cuda());
  const V r = wavy(A.rows(), 0.2);
  V x(S.matrix().kept_size(), 0.0, Device::cuda()), z(A.rows());
  S.from_zero(kept(S, r), x);
  S.settle();
  V back(A.rows(), Device::cuda());
  S.matrix().give_back(x, back);
  sgs(A).apply(r, z);
  expect_same(z, back);
}

TEST_F(DeviceHpcg, InjectionHasTheBitsOfTheHost) {
  for (const Grid grid : {Grid{16, 16, 16}, Grid{33, 18, 7}, Grid{1, 8, 5}, Grid{104, 40, 24}, Grid{1, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << grid.nx << "x" << grid.ny << "x" << grid.nz);
    const Grid half{(grid.nx + 1) / 2, (grid.ny + 1) / 2, (grid.nz + 1) / 2};
    const auto A = problems::poisson(grid, stencils::box27()), B = problems::poisson(half, stencils::box27());
    const TileMatrix fine(A, 0, Device::host()), coarse(B, 0, Device::host());
    const TileMatrix fine_there(A, 0, Device::cuda()), coarse_there(B, 0, Device::cuda());
    const TileInjection here(fine.order(), coarse.order()), there(fine_there.order(), coarse_there.order());
    V r(fine.kept_size(), 0.0), Ax(fine.kept_size(), 0.0), c(coarse.kept_size(), 7.0);
    fine.keep(wavy(A.rows(), 1), r);
    fine.keep(wavy(A.rows(), 2), Ax);
    V r_there = r.to(Device::cuda()), c_there = c.to(Device::cuda());
    const V Ax_there = Ax.to(Device::cuda());
    here.restrict_residual(r, Ax, c);
    there.restrict_residual(r_there, Ax_there, c_there);
    ASSERT_NO_FATAL_FAILURE(expect_same(c, c_there));
    here.add(c, r);
    there.add(c_there, r_there);
    ASSERT_NO_FATAL_FAILURE(expect_same(r, r_there));
  }
  const TileOrder fine({8, 8, 8}, stencils::star7(), 1, {4, 4}, Device::cuda()),
      coarse({4, 4, 4}, stencils::star7(), 1, {4, 4}, Device::host());
  EXPECT_ERROR(TileInjection(fine, coarse), bad_argument, "the coarse one on");
}

TEST_F(DeviceHpcg, TheCycleHasTheBitsOfTheHost) {
  for (const Grid& grid : {Grid{16, 16, 16}, Grid{24, 48, 32}, Grid{104, 16, 40}}) {
    SCOPED_TRACE(testing::Message() << grid.nx << "x" << grid.ny << "x" << grid.nz);
    const auto levels = levels_of({grid});
    TileRun here(matrices_of(levels), Device::host()), there(matrices_of(levels), Device::cuda());
    const V drawn = drawn_vector(levels.front(), 1);
    V r = here.in_own_order(drawn), z = here.zeros(), r_there = there.in_own_order(drawn), z_there = there.zeros();
    const TileMatrix order(problems::poisson(grid, stencils::box27()), 0, Device::host());
    here.precondition(r, z);
    for (int repeat = 0; repeat < 3; ++repeat) {
      there.precondition(r_there, z_there);
      ASSERT_NO_FATAL_FAILURE(expect_same_points(order, z, z_there)) << "V-cycle";
    }
    EXPECT_EQ(there.dot(r_there, z_there), here.dot(r, z)) << "sums have one shape";
    here.multiply(z, r);
    there.multiply(z_there, r_there);
    ASSERT_NO_FATAL_FAILURE(expect_same_points(order, r, r_there)) << "product";
  }
}

TEST_F(DeviceHpcg, IterationsAreThoseOfTheHost) {
  const auto levels = levels_of({Grid{24, 24, 24}});
  TileRun here(matrices_of(levels), Device::host()), there(matrices_of(levels), Device::cuda());
  const V b = right_hand_side(levels.front());
  const auto history = [&](OptimisedRun& run) {
    std::vector<double> values;
    CgRequest request;
    request.iterations = 20;
    request.history = &values;
    CgSeconds seconds;
    V x = run.zeros();
    (void)run.solve(run.in_own_order(b), x, request, seconds);
    return values;
  };
  const auto expected = history(here), got = history(there), again = history(there);
  EXPECT_EQ(got, again) << "repeats to the bit";
  EXPECT_EQ(got, expected) << "vectors, sums and sweeps have the host's bits";
}

TEST_F(DeviceHpcg, LittlePassesBetweenHostAndGpu) {
  const auto levels = levels_of({Grid{32, 32, 32}});
  TileRun run(matrices_of(levels), Device::cuda());
  const V b = run.in_own_order(right_hand_side(levels.front()));
  V x = run.zeros();
  CgRequest request;
  request.iterations = 20;
  CgSeconds seconds;
  const TransferCounts before = transfer_counts();
  (void)run.solve(b, x, request, seconds);
  const TransferCounts passed = transfer_counts() - before;
  EXPECT_LE(passed.bytes, 20 * 512) << "numbers, and whether a sweep had given up";
  EXPECT_LE(passed.waits, 20 * 4 + 8);
}

void expect_valid(const Outcome& run) {
  EXPECT_TRUE(run.valid()) << report_text(run);
  EXPECT_EQ(run.optimized_iterations, 50);
  EXPECT_EQ(run.spectral.unpreconditioned, 11);
  EXPECT_EQ(run.spectral.preconditioned, 1);
  EXPECT_EQ(run.norms.variance, 0) << "repeats to the bit";
  EXPECT_NE(run.gpu, "");
  EXPECT_GT(run.triad, 1e11);
  const std::string report = report_text(run);
  EXPECT_NE(report.find("Optimizations::GPU=" + run.gpu), std::string::npos) << report;
  EXPECT_NE(summary_text(run).find("smoother exact on " + run.gpu), std::string::npos);
}

TEST_F(DeviceHpcg, AWholeRunIsValidInFiftyIterations) {
  const Outcome run = run_benchmark(plan_for({64, 64, 64}), {}, serial());
  expect_valid(run);
  EXPECT_NEAR(run.reference_residual, 1.13589e-11, 1e-3 * 1.13589e-11);
  EXPECT_NEAR(run.residual, 1.13589e-11, 1e-3 * 1.13589e-11);
}

TEST_F(DeviceHpcg, AnInterruptedRunEnds) {
  Plan plan = plan_for({16, 16, 16});
  plan.seconds = 1e6;
  int asked = 0;
  const Monitor monitor{[&] { return ++asked > 400 ? Verdict::interrupt : Verdict::proceed; }, {}};
  const Outcome run = run_benchmark(plan, monitor, serial());
  EXPECT_EQ(run.ended, Verdict::interrupt);
  EXPECT_FALSE(run.valid());
}

TEST_F(DeviceHpcgFull, ThePublishedSizeIsValidInFiftyIterations) {
  const Outcome run = run_benchmark(plan_for({104, 104, 104}), {}, serial());
  expect_valid(run);
  EXPECT_NEAR(run.residual, 4.99963e-08, 1e-3 * 4.99963e-08);
}

}  // namespace
}  // namespace echelon::hpcg
