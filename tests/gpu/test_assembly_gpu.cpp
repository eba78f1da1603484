// SPDX-License-Identifier: BSD-3-Clause
// Problems assembled on a GPU have the bits of the host's assembly, padding included, for every problem and number of
// unknowns, on grids around the borders of tiles and thin ones; a matrix made of them has the host's traits; whole solves
// need no matrix from the host. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/transfers.hpp"
#include "echelon/matrix/given_rows.hpp"
#include "echelon/matrix/grid_gpu/tile_traits.hpp"
#include "echelon/precond/ilu_gpu/device_ilu.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "echelon/sweep/grid_gpu/wavefront_plan.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/row_problems.hpp"

namespace echelon {
namespace {

using AssemblyGpu = GpuTest;
using V = Vector<double>;

Array<double> written(const RowSource& rows, int fill) {
  const Stencil larger = grown(rows.stencil(), fill);
  const TileOrder order(rows.grid(), larger, rows.dof(), sweep_tile_shape(rows.grid(), larger, rows.dof()), rows.device());
  Array<double> values = Array<double>(order.matrix_scalars(), std::nan("")).to(rows.device());
  rows.write(order, values.data());
  return values.to(Device::host());
}

/// Where the first difference is, −1 for none: NaN is a difference.
std::int64_t first_difference(const Array<double>& a, const Array<double>& b) {
  if (std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0) return -1;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(a.data() + i, b.data() + i, sizeof(double)) != 0) return i;
  }
  return -1;
}

TEST_F(AssemblyGpu, OneSmallCaseOfEachKernel) {
  for (const auto& problem : reference::row_problems({{5, 4, 6}})) {
    const std::int64_t at =
        first_difference(written(*problem.rows(Device::cuda()), 0), written(*problem.rows(Device::host()), 0));
    ASSERT_EQ(at, -1) << problem.name;
  }
}

TEST_F(AssemblyGpu, HasTheBitsOfTheHost) {
  const std::vector<Grid> grids = {{17, 16, 33}, {33, 15, 9}, {16, 17, 8}, {1, 40, 13}, {70, 1, 1},
                                   {61, 47, 1},  {2, 3, 2},   {1, 1, 1},   {1, 1, 50},  {5, 4, 3}};
  for (const auto& problem : reference::row_problems(grids)) {
    const auto on_host = problem.rows(Device::host()), on_gpu = problem.rows(Device::cuda());
    for (const int fill : {0, 1}) {
      if (fill == 1 && on_host->stencil().size() > 7) continue;
      const Array<double> want = written(*on_host, fill), got = written(*on_gpu, fill);
      ASSERT_EQ(got.size(), want.size());
      const std::int64_t at = first_difference(got, want);
      ASSERT_EQ(at, -1) << problem.name << " fill " << fill << ": " << got[at] << ", expected " << want[at];
    }
  }
}

// Many tiles in all directions.
TEST_F(AssemblyGpu, HasTheBitsOfTheHostOnALargerGrid) {
  for (const auto& problem : reference::row_problems({{45, 70, 52}})) {
    const std::int64_t at =
        first_difference(written(*problem.rows(Device::cuda()), 0), written(*problem.rows(Device::host()), 0));
    ASSERT_EQ(at, -1) << problem.name;
  }
}

TEST_F(AssemblyGpu, AMatrixOfRowsHasTheTraitsOfTheHosts) {
  for (const auto& problem : reference::row_problems({{17, 20, 9}, {33, 18, 1}, {1, 5, 4}})) {
    const MatrixTraits got = traits_of(TileMatrix(problem.rows(Device::cuda()), 0));
    const MatrixTraits want = traits_of(TileMatrix(problem.rows(Device::host()), 0));
    EXPECT_EQ(got.asymmetry, want.asymmetry) << problem.name;
    EXPECT_EQ(got.zero_diagonals, want.zero_diagonals) << problem.name;
    EXPECT_EQ(got.negative_diagonals, want.negative_diagonals) << problem.name;
    EXPECT_EQ(got.weak_diagonals, want.weak_diagonals) << problem.name;
    EXPECT_EQ(got.first_weak_row, want.first_weak_row) << problem.name;
    EXPECT_EQ(got.dominant_rows, want.dominant_rows) << problem.name;
  }
  auto A = problems::random({16, 17, 9}, stencils::star7(), 2, 3);
  A.block(1500, A.stencil().center())[0] = 0;
  A.block(1700, A.stencil().center())[3] = -1e-9;
  const MatrixTraits got = traits_of(TileMatrix(A, 0, Device::cuda())), want = traits_of(A);
  EXPECT_EQ(got.asymmetry, want.asymmetry);
  EXPECT_EQ(got.zero_diagonals, 1);
  EXPECT_EQ(got.negative_diagonals, want.negative_diagonals);
  EXPECT_EQ(got.weak_diagonals, want.weak_diagonals);
  EXPECT_EQ(got.first_weak_row, 3000);
  A.block(1500, 1)[1] = std::nan("");
  EXPECT_TRUE(std::isnan(traits_of(TileMatrix(A, 0, Device::cuda())).asymmetry));
}

TEST_F(AssemblyGpu, GivenRowsOnTheGpuAreTheMatrixWhoseValuesTheyAre) {
  const auto A = problems::random({23, 18, 9}, stencils::box27(), 3, 8);
  const auto user = Array<double>{A.values()}.to(Device::cuda());
  const TransferCounts before = transfer_counts();
  const TileMatrix got(given_rows(A.grid(), A.stencil(), 3, user.data(), Device::cuda()), 0);
  EXPECT_LT((transfer_counts() - before).bytes, user.bytes() / 10);
  const TileMatrix want(A, 0, Device::cuda());
  V x(want.kept_size(), 1.0, Device::cuda()), y(want.kept_size(), 0.0, Device::cuda()), z = y.clone();
  want.apply(x, y);
  got.apply(x, z);
  EXPECT_EQ(first_difference(z.to(Device::host()), y.to(Device::host())), -1);
  // Their factors too, which begin with a copy: given rows may have gone.
  const DeviceIlu M(got, {}), N(want, {});
  V u(want.kept_size(), 0.0, Device::cuda()), v = u.clone();  // the padding stays as it was
  M.apply(y, u);
  N.apply(y, v);
  EXPECT_EQ(first_difference(u.to(Device::host()), v.to(Device::host())), -1);
}

TEST_F(AssemblyGpu, SolvesAsWithAMatrixOfTheHostAndWithoutItsWayThere) {
  for (const auto& problem : reference::row_problems({{20, 24, 18}})) {
    if (problem.name.find("b=9") != std::string::npos) continue;
    const auto A = problem.on_host();
    const V b(A.rows(), 1.0);
    V from_host(A.rows(), 0.0), from_rows(A.rows(), 0.0);
    SolveRequest request;
    request.device = Device::cuda();
    const auto want = solve_automatically(&A, b, from_host, request);
    const TransferCounts before = transfer_counts();
    const auto got = solve_automatically(problem.rows(Device::cuda()), b, from_rows, request);
    const TransferCounts moved = transfer_counts() - before;
    EXPECT_EQ(got.choice.name(), want.choice.name()) << problem.name;
    EXPECT_EQ(got.report.iterations, want.report.iterations) << problem.name;
    EXPECT_EQ(first_difference(from_rows, from_host), -1) << problem.name;
    EXPECT_GT(got.report.assembly_seconds, 0);
    EXPECT_EQ(got.report.conversion_seconds, 0);
    EXPECT_GT(want.report.conversion_seconds, 0);
    // Tables and vectors, and what a user's function was worth at the points; not the matrix.
    if (A.dof() >= 4) {
      EXPECT_LT(moved.bytes, A.nonzeros() * 8 / 4) << problem.name;
    }
  }
}

TEST_F(AssemblyGpu, RefusesBadFieldsWithTheirPlace) {
  problems::EulerOptions huge;
  huge.base = problems::waved_gas_flow(std::numeric_limits<double>::max());
  try {
    (void)problems::euler_rows({4, 4, 4}, huge, Device::cuda());
    FAIL() << "an infinite velocity was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("must be finite"), std::string::npos) << error.what();
  }
}

TEST_F(AssemblyGpu, RowsOfTheGpuAreNotForTheHost) {
  const auto rows = problems::poisson_rows({4, 4, 4}, stencils::star7(), Device::cuda());
  const V b(64, 1.0);
  V x(64, 0.0);
  EXPECT_THROW((void)solve_automatically(rows, b, x, {}), Error);
}

}  // namespace
}  // namespace echelon
