// SPDX-License-Identifier: BSD-3-Clause
// Sweeps on several vectors at once have the bits of sweeps on each: the named stencils, every block size, any number of
// vectors, thin grids and tile borders, in place, storages without such a kernel, and after a refactorization. Skipped where
// there is no GPU.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/grid_gpu/wavefront_many.hpp"
#include "tests/gpu/needs_gpu.hpp"

namespace echelon {
namespace {

using V = Vector<double>;
using ManySweeps = GpuTest;

std::vector<V> right_hand_sides(const TileMatrix& A, int count) {
  std::vector<V> made;
  for (int k = 0; k < count; ++k) {
    V natural(A.rows());
    for (std::int64_t i = 0; i < natural.size(); ++i) natural[i] = std::sin(1.3 * static_cast<double>(i) + k) + 0.1 * k;
    V kept(A.kept_size(), 0.0, A.device());
    A.keep(natural.to(A.device()), kept);
    made.push_back(std::move(kept));
  }
  return made;
}

void expect_bits(const TileMatrix& A, const DeviceIlu& M, int count, bool in_place, const std::string& about) {
  const std::vector<V> r = right_hand_sides(A, count);
  std::vector<V> together = right_hand_sides(A, count);
  if (in_place) {
    M.apply_many(together, together);
  } else {
    for (V& z : together) z = V(A.kept_size(), 0.0, A.device());
    M.apply_many(r, together);
  }
  ASSERT_NO_THROW(M.settle()) << about;
  V alone(A.kept_size(), 0.0, A.device());
  for (int k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    M.apply(r[at], alone);
    M.settle();
    const V want = alone.to(Device::host()), got = together[at].to(Device::host());
    std::int64_t wrong = 0, first = -1;
    for (std::int64_t i = 0; i < want.size(); ++i) {
      if (got[i] == want[i]) continue;
      if (wrong++ == 0) first = i;
    }
    ASSERT_EQ(wrong, 0) << about << ", vector " << k << " of " << count << ", first at " << first << ": " << got[first]
                        << " for " << want[first];
  }
}

void expect_bits(const Grid& grid, const Stencil& stencil, int dof, int count, const IluOptions& options = {}) {
  const auto A = problems::random(grid, stencil, dof, 5);
  const TileMatrix tiles(A, options.fill, Device::cuda());
  const DeviceIlu M(tiles, options);
  ASSERT_TRUE(M.report().ok) << M.report().message;
  expect_bits(tiles, M, count, count % 2 == 0,
              fmt::format("{} b={} {}x{}x{}", stencil.name(), dof, grid.nx, grid.ny, grid.nz));
}

/// What compute-sanitizer is run on.
TEST_F(ManySweeps, OneSmallCaseOfEachKernel) {
  for (const int count : {2, 4, 8}) {
    for (const int dof : {1, 2, 3, 5}) expect_bits({6, 9, 5}, stencils::star7(), dof, count);
  }
}

TEST_F(ManySweeps, AnyNumberOfVectors) {
  for (int count = 0; count <= 17; ++count) expect_bits({17, 35, 21}, stencils::star7(), 1, count);
}

TEST_F(ManySweeps, NamedStencilsAndBlocks) {
  for (const char* name : {"star5", "box9", "star7", "star13", "diamond13", "diamond25", "box27"}) {
    for (int dof = 1; dof <= 9; ++dof) {
      const Stencil stencil = stencils::named(name);
      const bool flat = stencil.offsets()[0].z == 0;
      const Grid grid = flat ? (dof < 3 ? Grid{45, 71, 1} : Grid{23, 40, 1}) : dof < 3 ? Grid{37, 41, 19} : Grid{15, 19, 11};
      for (const int count : {2, 5, 8}) expect_bits(grid, stencil, dof, count);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ManySweeps, TileBordersAndThinGrids) {
  for (const std::int64_t side : {1, 3, 15, 16, 17, 33, 65}) {
    expect_bits({9, side, 18}, stencils::star7(), 1, 8);
    expect_bits({side, 10, 17}, stencils::box27(), 1, 4);
    expect_bits({5, side, 9}, stencils::star7(), 4, 4);
  }
  for (const Grid grid :
       {Grid{1, 30, 40}, Grid{50, 1, 20}, Grid{200, 1, 1}, Grid{1, 90, 1}, Grid{1, 1, 70}, Grid{1, 1, 1}}) {
    for (const int count : {2, 4, 8}) expect_bits(grid, stencils::star7(), 1, count);
  }
  // More tiles than blocks that fit, and the large tiles.
  expect_bits({40, 400, 330}, stencils::star7(), 1, 8);
  expect_bits({40, 400, 330}, stencils::star7(), 1, 4);
}

TEST_F(ManySweeps, FillAndNarrowFactors) {
  expect_bits({21, 22, 23}, stencils::star7(), 1, 8, {.fill = 1});
  for (const Stored stored : {Stored::fp32, Stored::bf16}) {
    expect_bits({21, 22, 23}, stencils::star7(), 1, 5, {.precision = stored});
  }
}

TEST_F(ManySweeps, AfterARefactorization) {
  auto A = problems::random({21, 22, 23}, stencils::star7(), 1, 5);
  TileMatrix tiles(A, 0, Device::cuda());
  DeviceIlu M(tiles, {});
  expect_bits(tiles, M, 8, false, "first");
  for (double& value : A.values()) value *= 3;
  tiles.assign(A);
  ASSERT_TRUE(M.refactor(tiles).ok);
  expect_bits(tiles, M, 8, false, "second");
}

TEST_F(ManySweeps, BlockCsr) {
  const Device gpu = Device::cuda();
  for (const int dof : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    const auto A = to_block_csr(problems::random({9, 10, 11}, dof == 1 ? stencils::box27() : stencils::star7(), dof, 5));
    for (const Ordering ordering : {Ordering::natural, Ordering::rcm}) {
      const DeviceBlockIlu M(A.to(gpu), {.ordering = ordering});
      ASSERT_TRUE(M.report().ok);
      for (const int count : {0, 1, 2, 3, 4, 7, 8}) {
        std::vector<V> r, z;
        for (int k = 0; k < count; ++k) {
          V one(A.rows());
          for (std::int64_t i = 0; i < one.size(); ++i) one[i] = std::sin(0.7 * static_cast<double>(i) + k);
          r.push_back(one.to(gpu));
          z.emplace_back(A.rows(), gpu);
        }
        M.apply_many(r, z);
        ASSERT_NO_THROW(M.settle()) << dof << ", " << count;
        V alone(A.rows(), gpu);
        for (std::size_t k = 0; k < r.size(); ++k) {
          M.apply(r[k], alone);
          const V want = alone.to(Device::host()), got = z[k].to(Device::host());
          for (std::int64_t i = 0; i < want.size(); ++i) {
            ASSERT_EQ(got[i], want[i]) << "b = " << dof << ", vector " << k << " of " << count << ", row " << i;
          }
        }
      }
    }
  }
}

TEST_F(ManySweeps, WhatDoesNotFitIsRefused) {
  const auto A = problems::random({6, 7, 8}, stencils::star7(), 1, 5);
  const TileMatrix tiles(A, 0, Device::cuda());
  const DeviceIlu M(tiles, {});
  std::vector<V> r = right_hand_sides(tiles, 3), z = right_hand_sides(tiles, 2);
  EXPECT_THROW(M.apply_many(r, z), Error);
  z.emplace_back(tiles.kept_size() - 1, Device::cuda());
  EXPECT_THROW(M.apply_many(r, z), Error);
  z.back() = V(tiles.kept_size());
  EXPECT_THROW(M.apply_many(r, z), Error);
}

}  // namespace
}  // namespace echelon
