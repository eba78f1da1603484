// SPDX-License-Identifier: BSD-3-Clause
// A matrix in tile order on a GPU: product and careful residual have the bits of StructMatrix, for every stencil and block
// size, thin grids, random stencils and orders grown by fill; the ILU there applied has the bits of the host's. Skipped
// where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "echelon/base/error.hpp"
#include "echelon/matrix/grid_gpu/tile_matrix.hpp"
#include "echelon/precond/ilu_gpu/device_ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

using V = Vector<double>;
using TileMatrixGpu = GpuTest;
using DeviceIluTest = GpuTest;

V waves(std::int64_t n, double speed) {
  V v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = std::sin(speed * static_cast<double>(i) + 0.1);
  return v;
}

/// A vector of the host in A's order on the GPU, and back.
V kept(const TileMatrix& A, const V& natural) {
  V made(A.kept_size(), A.device());
  A.keep(natural.to(A.device()), made);
  return made;
}
V natural(const TileMatrix& A, const V& from) {
  V made(A.rows(), A.device());
  A.give_back(from, made);
  return made.to(Device::host());
}

void expect_equal(const V& found, const V& want, const std::string& about) {
  for (std::int64_t i = 0; i < want.size(); ++i) ASSERT_EQ(found[i], want[i]) << about << " row " << i;
}

std::string shape_text(const Grid& grid, const Stencil& stencil, int dof, int fill) {
  return (testing::Message() << stencil.name() << " b=" << dof << " fill " << fill << " on " << grid.nx << "x" << grid.ny
                             << "x" << grid.nz)
      .GetString();
}

void expect_host_bits(const Grid& grid, const Stencil& stencil, int dof, int fill, std::uint64_t seed) {
  const auto A = problems::random(grid, stencil, dof, seed);
  const TileMatrix tiles(A, fill, Device::cuda());
  const V x = waves(A.rows(), 0.7), b = waves(A.rows(), 0.3);
  V y(A.rows()), r(A.rows());
  A.apply(x, y);
  A.careful_residual(b, x, r);
  const V on_gpu = kept(tiles, x);
  V found = kept(tiles, b);
  tiles.apply(on_gpu, found);
  const std::string about = shape_text(grid, stencil, dof, fill);
  expect_equal(natural(tiles, found), y, "product, " + about);
  tiles.careful_residual(kept(tiles, b), on_gpu, found);
  expect_equal(natural(tiles, found), r, "residual, " + about);
  EXPECT_NEAR(tiles.norm_inf(), A.norm_inf(), 1e-13 * A.norm_inf()) << about;
}

TEST_F(TileMatrixGpu, OneSmallCaseOfEachKernel) {
  for (const int dof : {1, 2, 3, 4, 5, 8, 9}) expect_host_bits({9, 17, 12}, stencils::star7(), dof, 0, 3);
  expect_host_bits({9, 17, 12}, stencils::star7(), 1, 1, 3);
  expect_host_bits({9, 17, 12}, stencils::box27(), 4, 0, 3);
}

TEST_F(TileMatrixGpu, HasTheBitsOfTheHost) {
  for (const std::string& name : stencils::names()) {
    for (int dof = 1; dof <= 9; ++dof) {
      for (const Grid& grid : {Grid{1, 9, 13}, Grid{70, 1, 1}, Grid{2, 3, 2}}) {
        expect_host_bits(grid, stencils::named(name), dof, 0, 3);
      }
      // Several tiles in both directions.
      if (dof <= 5) expect_host_bits({19, 41, 37}, stencils::named(name), dof, 0, 3);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(TileMatrixGpu, HasTheBitsOfTheHostInAGrownOrder) {
  for (const char* name : {"star7", "star5", "box27"}) {
    for (const int fill : {1, 2}) expect_host_bits({18, 35, 18}, stencils::named(name), 1, fill, 4);
    if (HasFatalFailure()) return;
  }
}

TEST_F(TileMatrixGpu, HasTheBitsOfTheHostForRandomStencils) {
  std::mt19937_64 random(8);
  for (int n = 0; n < 100 && !HasFatalFailure(); ++n) {
    const bool flat = n % 4 == 0;
    const Stencil stencil = reference::random_stencil(random, 20, 3, flat);
    expect_host_bits(reference::random_grid(random, 12, flat), stencil, 1 + n % 3, 0, random());
  }
}

// Neighbours so far off that the part of the table that a walk needs has no room near it, and ones just near enough.
TEST_F(TileMatrixGpu, HasTheBitsOfTheHostForNeighboursFarOff) {
  for (const int far : {5, 18, 40}) {
    const Stencil stencil({{0, 0, -far}, {-3, -1, 0}, {0, 0, 0}, {1, far, 0}, {0, 0, far}}, "far");
    for (const int dof : {1, 2}) expect_host_bits({9, 43, 45}, stencil, dof, 0, 6);
    if (HasFatalFailure()) return;
  }
}

// The sum is that of the rows themselves, and a repeat gives its bits.
TEST_F(TileMatrixGpu, GivesXTimesAxWithTheProduct) {
  for (const auto& [name, dof] : {std::pair{"star7", 1}, {"star5", 1}, {"box27", 1}, {"diamond25", 2}, {"star13", 5}}) {
    const auto A = problems::random({19, 41, 37}, stencils::named(name), dof, 3);
    const TileMatrix tiles(A, 0, Device::cuda());
    const V x = kept(tiles, waves(A.rows(), 0.7));
    V y(tiles.kept_size(), 0.0, Device::cuda()), again = y.clone();
    tiles.apply(x, again);
    ASSERT_GT(tiles.dot_parts(), 0);
    V parts(tiles.dot_parts(), std::nan(""), Device::cuda()), repeated = parts.clone();
    tiles.apply_and_dot(x, y, parts.data());
    tiles.apply_and_dot(x, y, repeated.data());
    expect_equal(y.to(Device::host()), again.to(Device::host()), name);
    expect_equal(repeated.to(Device::host()), parts.to(Device::host()), name);
    double found = 0, want = 0, size = 0;
    for (const double part : parts.to(Device::host())) found += part;
    const V host_x = natural(tiles, x), host_y = natural(tiles, y);
    for (std::int64_t i = 0; i < host_x.size(); ++i) {
      want += host_x[i] * host_y[i];
      size += std::abs(host_x[i] * host_y[i]);
    }
    EXPECT_NEAR(found, want, 1e-13 * size) << name;
  }
}

// Blocks that have no kernel of their own give no sum.
TEST_F(TileMatrixGpu, SaysWhereItGivesNoSum) {
  EXPECT_EQ(TileMatrix(problems::random({5, 6, 7}, stencils::star7(), 9, 3), 0, Device::cuda()).dot_parts(), 0);
}

/// z = M⁻¹ r on both sides; exact in FP64, and with `stored` as near as its digits.
void expect_same_ilu(const Grid& grid, const Stencil& stencil, int dof, const IluOptions& options, bool positive) {
  const auto A = positive ? problems::poisson(grid, stencil) : problems::random(grid, stencil, dof, 7);
  const Ilu<double> host = positive ? ic(A, options) : ilu(A, options);
  const TileMatrix tiles(A, options.fill, Device::cuda());
  const DeviceIlu gpu(tiles, options, positive);
  const std::string about = shape_text(grid, stencil, dof, options.fill);
  const FactorReport &want = host.report(), &got = gpu.report();
  EXPECT_EQ(got.ok, want.ok) << about;
  EXPECT_EQ(got.name, want.name) << about;
  EXPECT_EQ(got.precision, want.precision) << about;
  EXPECT_EQ(got.fill_ratio, want.fill_ratio) << about;
  EXPECT_EQ(got.perturbed_pivots, want.perturbed_pivots) << about;
  const V r = waves(A.rows(), 0.7);
  V z(A.rows());
  host.apply(r, z);
  V out = kept(tiles, r);
  gpu.apply(out, out);
  gpu.settle();
  expect_equal(natural(tiles, out), z, "ILU, " + about + " " + want.precision);
}

TEST_F(DeviceIluTest, AppliesWithTheBitsOfTheHost) {
  for (const char* name : {"star5", "star7", "box9", "star13", "box27"}) {
    const Grid grid = stencils::named(name).size() <= 9 && std::string(name) != "star7" ? Grid{61, 47, 1} : Grid{23, 37, 19};
    for (const int dof : {1, 2, 3, 5, 8}) {
      expect_same_ilu(grid, stencils::named(name), dof, {}, false);
      if (HasFatalFailure()) return;
    }
  }
  expect_same_ilu({23, 37, 19}, stencils::star7(), 1, {}, true);
  expect_same_ilu({23, 37, 19}, stencils::box27(), 1, {}, true);
  for (const int fill : {1, 2}) {
    expect_same_ilu({23, 37, 19}, stencils::star7(), 1, {.fill = fill}, false);
    expect_same_ilu({23, 37, 19}, stencils::star7(), 1, {.fill = fill}, true);
    expect_same_ilu({23, 37, 19}, stencils::star7(), 3, {.fill = fill}, false);
  }
}

TEST_F(DeviceIluTest, NarrowFactorsHaveTheBitsOfTheHost) {
  for (const Stored stored : {Stored::fp32, Stored::bf16, Stored::fp16}) {
    for (const int dof : {1, 4}) {
      IluOptions options;
      options.precision = stored;
      expect_same_ilu({23, 37, 19}, stencils::star7(), dof, options, false);
      expect_same_ilu({23, 37, 19}, stencils::box27(), dof, options, false);
    }
  }
}

TEST_F(DeviceIluTest, RefactorsWithNewValues) {
  const Grid grid{17, 18, 19};
  const auto first = problems::random(grid, stencils::star7(), 2, 1),
             second = problems::random(grid, stencils::star7(), 2, 2);
  TileMatrix tiles(first, 1, Device::cuda());
  DeviceIlu gpu(tiles, {.fill = 1});
  tiles.assign(second);
  ASSERT_TRUE(gpu.refactor(tiles).ok);
  const V r = waves(first.rows(), 0.7);
  V z(first.rows());
  ilu(second, {.fill = 1}).apply(r, z);
  V out = kept(tiles, r);
  gpu.apply(out, out);
  expect_equal(natural(tiles, out), z, "after refactor");
}

TEST_F(DeviceIluTest, SaysWhatItCannotDo) {
  const auto A = problems::poisson({8, 8, 8}, stencils::star7());
  const TileMatrix tiles(A, 0, Device::cuda()), on_host(A, 0, Device::host());
  EXPECT_THROW(DeviceIlu(tiles, {.fill = 1}), Error);
  EXPECT_THROW(DeviceIlu(on_host, {}), Error);
  EXPECT_THROW(DeviceIlu(tiles, {.ordering = Ordering::rcm}), Error);
  const DeviceIlu M(tiles, {});
  V r(A.rows(), 1.0), z(A.rows());
  EXPECT_THROW(M.apply(r, z), Error);
}

TEST_F(DeviceIluTest, ReportsABadPivotAsTheHostDoes) {
  auto A = problems::poisson({9, 10, 11}, stencils::star7());
  A.block(321, A.stencil().center())[0] = std::nan("");
  const IluOptions options{.shift = ShiftPolicy::none};
  const TileMatrix tiles(A, 0, Device::cuda());
  const DeviceIlu gpu(tiles, options);
  const Ilu<double> host = ilu(A, options);
  EXPECT_FALSE(gpu.report().ok);
  EXPECT_EQ(gpu.report().message, host.report().message);
  V r(tiles.kept_size(), 0.0, Device::cuda());
  V z = r.clone();
  EXPECT_THROW(gpu.apply(r, z), Error);
}

}  // namespace
}  // namespace echelon
