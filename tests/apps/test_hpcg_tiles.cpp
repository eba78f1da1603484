// SPDX-License-Identifier: BSD-3-Clause
// HPCG in tile order, as a GPU runs it, here on the host: the V-cycle beside the one in natural order, a whole valid run, a
// matrix that comes back, what is refused. tests/gpu/test_device_hpcg.cpp is the same on a GPU.
#include "apps/hpcg/tile_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "apps/hpcg/benchmark.hpp"
#include "apps/hpcg/optimised.hpp"
#include "apps/hpcg/report_text.hpp"
#include "apps/hpcg/validation.hpp"
#include "echelon/matrix/grid_gpu/tile_matrix.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"

namespace echelon::hpcg {
namespace {

using V = Vector<double>;

std::vector<StructMatrix<double>> matrices_of(const std::vector<Geometry>& levels) {
  std::vector<StructMatrix<double>> matrices;
  for (const auto& level : levels) matrices.push_back(problems::poisson(level.local, stencils::box27()));
  return matrices;
}

/// A vector of the finest level.
V natural(const std::vector<Geometry>& levels, const V& own) {
  const auto A = problems::poisson(levels.front().local, stencils::box27());
  const TileMatrix order(A, 0, Device::host());
  V v(A.rows());
  order.give_back(own, v);
  return v;
}

TEST(HpcgTiles, TheCycleIsThatOfNaturalOrder) {
  for (const Grid& grid : {Grid{16, 16, 16}, Grid{24, 16, 32}}) {
    const auto levels = levels_of({grid});
    Optimised plain(levels, matrices_of(levels), {smoother_kinds().front().make, true}, serial());
    TileRun tiles(matrices_of(levels), Device::host());
    const V drawn = drawn_vector(levels.front(), 1);
    V r = plain.in_own_order(drawn), z = plain.zeros(), own_r = tiles.in_own_order(drawn), own_z = tiles.zeros();
    plain.precondition(r, z);
    tiles.precondition(own_r, own_z);
    const V back = natural(levels, own_z);
    for (std::int64_t i = 0; i < z.size(); ++i) ASSERT_NEAR(back[i], z[i], 1e-13) << i;
    EXPECT_NEAR(tiles.multiply(own_r, own_z), plain.multiply(r, z), 1e-9);
    EXPECT_TRUE(std::ranges::equal(natural(levels, own_z), z)) << "products have the same bits";
  }
}

TEST(HpcgTiles, AWholeRunIsValidInFiftyIterations) {
  Plan plan = make_plan({Grid{16, 16, 16}}, smoother_kinds().front(), false);
  plan.seconds = 1e-3;
  plan.reference_calls = 1;
  plan = tile_plan(std::move(plan), smoother_kinds().front(), Device::host());
  const Outcome run = run_benchmark(plan, {}, serial());
  EXPECT_TRUE(run.valid()) << report_text(run);
  EXPECT_TRUE(run.separate);
  EXPECT_EQ(run.gpu, "");
  EXPECT_LE(run.optimized_iterations, run.reference_iterations + 1) << "at 1e-15 rounding decides";
  EXPECT_EQ(run.spectral.unpreconditioned, 11);
  EXPECT_EQ(run.spectral.preconditioned, 1);
  EXPECT_LE(run.symmetry.mg, 1);
  EXPECT_GT(run.iteration_bytes, 1334.0 * 16 * 16 * 16) << "a whole residual, and a second smoothing by the product";
  EXPECT_EQ(report_text(run).find("in packs"), std::string::npos) << "optimizations of the other run";
}

TEST(HpcgTiles, ReachesTheReferencesResidualIterationByIteration) {
  const auto levels = levels_of({Grid{24, 24, 24}});
  Optimised plain(levels, matrices_of(levels), {smoother_kinds().front().make, true}, serial());
  TileRun tiles(matrices_of(levels), Device::host());
  const V b = right_hand_side(levels.front());
  const auto history = [&](OptimisedRun& run) {
    std::vector<double> values;
    CgRequest request;
    request.iterations = 25;
    request.history = &values;
    CgSeconds seconds;
    V x = run.zeros();
    const auto result = run.solve(run.in_own_order(b), x, request, seconds);
    EXPECT_EQ(result.iterations, 25);
    EXPECT_LE(seconds.ddot + seconds.waxpby + seconds.spmv + seconds.mg, seconds.total);
    return values;
  };
  const auto expected = history(plain), got = history(tiles);
  ASSERT_EQ(expected.size(), 25U);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (expected[k] < 1e-12) break;  // below that rounding decides
    EXPECT_NEAR(got[k], expected[k], 1e-3 * expected[k]) << k;
  }
}

TEST(HpcgTiles, TheDiagonalComesBack) {
  const auto levels = levels_of({Grid{16, 16, 16}});
  TileRun run(matrices_of(levels), Device::host());
  const V drawn = drawn_vector(levels.front(), 3), before = run.diagonal();
  V x = run.in_own_order(drawn), y = run.zeros(), z = run.zeros();
  const double dot = run.multiply(x, y);
  V larger(before.size(), 1e6);
  run.replace_diagonal(larger);
  EXPECT_TRUE(std::ranges::equal(run.diagonal(), larger));
  EXPECT_GT(run.multiply(x, z), 1e3 * dot);
  run.replace_diagonal(before);
  EXPECT_EQ(run.multiply(x, z), dot);
  EXPECT_TRUE(std::ranges::equal(y, z));
}

TEST(HpcgTiles, SeveralProcessesAndOtherSmoothersAreRefused) {
  const SmootherKind& exact = smoother_kinds().front();
  Plan two = make_plan({Grid{16, 16, 16}, ProcessGrid{{2, 1, 1}}}, exact, false);
  EXPECT_ERROR(tile_plan(two, exact, Device::host()), bad_option, "--backend cuda is for one process; got 2");
  SmootherKind other = exact;
  other.name = "other";
  other.in_tiles = false;
  EXPECT_ERROR(tile_plan(make_plan({Grid{16, 16, 16}}, other, false), other, Device::host()), bad_option,
               "--smoother other runs on the host only; got --backend cuda");
}

}  // namespace
}  // namespace echelon::hpcg
