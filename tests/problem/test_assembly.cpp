// SPDX-License-Identifier: BSD-3-Clause
// Problems written as rows in tile order, on the host: the values of the matrix in user order, bit for bit, zeros in
// padding, in orders grown by fill too; a matrix in tile order made of them has the products and the traits of the one on
// the host.
#include "echelon/problem/assembly/assembly.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "echelon/base/error.hpp"
#include "echelon/matrix/given_rows.hpp"
#include "echelon/matrix/grid_gpu/tile_traits.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "echelon/sweep/grid_gpu/wavefront_plan.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/row_problems.hpp"

namespace echelon {
namespace {

const std::vector<Grid> grids = {{5, 4, 3}, {9, 17, 4}, {1, 6, 5}, {7, 1, 1}, {6, 9, 1}, {1, 1, 1}};

TEST(Assembly, InTileOrderIsWhatAConversionGives) {
  for (const auto& problem : reference::row_problems(grids)) {
    const auto A = problem.on_host();
    const auto rows = problem.rows(Device::host());
    EXPECT_TRUE(rows->lasting());
    for (const int fill : {0, 1}) {
      if (fill == 1 && A.stencil().size() > 7) continue;
      const Stencil larger = grown(A.stencil(), fill);
      const TileOrder order(A.grid(), larger, A.dof(), sweep_tile_shape(A.grid(), larger, A.dof()), Device::host());
      Array<double> want(order.matrix_scalars()), got(order.matrix_scalars(), std::nan(""));
      Array<double> user{A.values()};
      TileConversion(order, A.stencil()).matrix_to_tiles(user, want);
      rows->write(order, got.data());
      ASSERT_EQ(std::memcmp(want.data(), got.data(), static_cast<std::size_t>(want.bytes())), 0)
          << problem.name << " fill " << fill;
    }
  }
}

void expect_traits(const MatrixTraits& got, const MatrixTraits& want, const std::string& about) {
  if (std::isnan(want.asymmetry)) {
    EXPECT_TRUE(std::isnan(got.asymmetry)) << about;
  } else {
    EXPECT_EQ(got.asymmetry, want.asymmetry) << about;
  }
  EXPECT_EQ(got.missing_diagonals, want.missing_diagonals) << about;
  EXPECT_EQ(got.zero_diagonals, want.zero_diagonals) << about;
  EXPECT_EQ(got.negative_diagonals, want.negative_diagonals) << about;
  EXPECT_EQ(got.weak_diagonals, want.weak_diagonals) << about;
  EXPECT_EQ(got.first_weak_row, want.first_weak_row) << about;
  EXPECT_EQ(got.dominant_rows, want.dominant_rows) << about;
  EXPECT_EQ(got.rows, want.rows) << about;
  EXPECT_EQ(got.block, want.block) << about;
}

TEST(Assembly, AMatrixOfRowsHasTheTraitsOfTheHosts) {
  for (const auto& problem : reference::row_problems({{5, 4, 3}, {6, 5, 1}})) {
    expect_traits(traits_of(TileMatrix(problem.rows(Device::host()), 0)), traits_of(problem.on_host()), problem.name);
  }
  auto A = problems::random({6, 7, 3}, stencils::star7(), 2, 3);
  A.block(50, A.stencil().center())[0] = 0;
  A.block(51, A.stencil().center())[3] = -1e-9;
  A.block(80, A.stencil().center())[3] = -3;
  expect_traits(traits_of(TileMatrix(A, 0, Device::host())), traits_of(A), "weak diagonals");
  A.block(9, 1)[1] = std::nan("");
  expect_traits(traits_of(TileMatrix(A, 0, Device::host())), traits_of(A), "with a NaN");
  const auto lopsided = problems::random({6, 7, 3}, Stencil({{-1, 0, 0}, {0, 0, 0}}), 1, 3);
  expect_traits(traits_of(TileMatrix(lopsided, 0, Device::host())), traits_of(lopsided), "half a stencil");
}

TEST(Assembly, AMatrixOfRowsMultipliesAndGrowsAsTheHosts) {
  const Grid grid{6, 19, 5};
  const auto A = problems::variable_poisson(grid, stencils::star7());
  const TileMatrix of_rows(problems::variable_poisson_rows(grid, stencils::star7(), {}, Device::host()), 1);
  const TileMatrix copied(A, 1, Device::host());
  const TileOrder order(grid, grown(A.stencil(), 1), 1, copied.tile_shape(), Device::host());
  Array<double> want(order.matrix_scalars()), got(order.matrix_scalars());
  copied.grow(order, want.data());
  of_rows.grow(order, got.data());
  for (std::int64_t i = 0; i < want.size(); ++i) ASSERT_EQ(got[i], want[i]);
  Vector<double> x(copied.kept_size(), 1.0), y(copied.kept_size(), 0.0), z(copied.kept_size(), 0.0);
  copied.apply(x, y);
  of_rows.apply(x, z);
  for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(z[i], y[i]);
}

TEST(GivenRows, AreTheMatrixWhoseValuesTheyAre) {
  const Grid grid{6, 19, 5};
  const auto A = problems::random(grid, stencils::box27(), 3, 8), B = problems::random(grid, stencils::box27(), 3, 9);
  const TileMatrix want(B, 0, Device::host());
  TileMatrix got(given_rows(grid, A.stencil(), 3, A.values().data(), Device::host()), 0);
  got.assign(given_rows(grid, B.stencil(), 3, B.values().data(), Device::host()));
  Vector<double> x(want.kept_size(), 1.0), y(want.kept_size(), 0.0), z(want.kept_size(), 0.0);
  want.apply(x, y);
  got.apply(x, z);
  for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(z[i], y[i]);
}

TEST(GivenRows, RefuseWhatDoesNotFit) {
  const Grid grid{6, 5, 4};
  const auto A = problems::poisson(grid, stencils::star7());
  const auto rows = given_rows(grid, A.stencil(), 1, A.values().data(), Device::host());
  EXPECT_THROW(given_rows(grid, A.stencil(), 1, nullptr, Device::host()), Error);
  EXPECT_THROW(given_rows({0, 5, 4}, A.stencil(), 1, A.values().data(), Device::host()), Error);
  TileMatrix other(problems::poisson({6, 5, 5}, stencils::star7()), 0, Device::host());
  EXPECT_THROW(other.assign(rows), Error);
  const TileOrder small(grid, stencils::star5(), 1, {8, 8}, Device::host());
  Array<double> values(small.matrix_scalars());
  EXPECT_THROW(rows->write(small, values.data()), Error);
  EXPECT_THROW(problems::poisson_rows(grid, stencils::star7(), Device::host())->write(small, values.data()), Error);
}

TEST(Assembly, RefusesAsTheMatrixDoes) {
  const Device host = Device::host();
  EXPECT_THROW(problems::poisson_rows({0, 4, 4}, stencils::star7(), host), Error);
  EXPECT_THROW(problems::poisson_rows({4, 4, 4}, stencils::star5(), host), Error);
  EXPECT_THROW(problems::convection_diffusion_rows({4, 4, 4}, stencils::box27(), {}, host), Error);
  problems::VarPoissonOptions negative;
  negative.kappa = [](double x, double, double) { return x - 0.5; };
  EXPECT_THROW(problems::variable_poisson_rows({4, 4, 4}, stencils::star7(), negative, host), Error);
  problems::EulerOptions vacuum;
  vacuum.base = [](double, double, double) { return problems::GasState{0, 0, 0, 0, 1}; };
  EXPECT_THROW(problems::euler_rows({4, 4, 4}, vacuum, host), Error);
  EXPECT_THROW(problems::random_rows({4, 4, 4}, stencils::star7(), 0, 1, host), Error);
}

}  // namespace
}  // namespace echelon
