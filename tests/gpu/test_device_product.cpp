// SPDX-License-Identifier: BSD-3-Clause
// The product on a GPU in user order has the bits of StructMatrix::apply: every stencil and block size, thin grids, random
// stencils. Skipped, with the reason, where there is no GPU.
#include "echelon/matrix/grid_gpu/device_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "echelon/base/error.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

using DeviceProductTest = GpuTest;

template <class T>
void expect_host_bits(const Grid& grid, const Stencil& stencil, int dof, std::uint64_t seed) {
  const auto drawn = problems::random(grid, stencil, dof, seed);
  StructMatrix<T> A(grid, stencil, dof);
  std::ranges::transform(drawn.values(), A.values().begin(), [](double a) { return static_cast<T>(a); });
  Vector<T> x(A.rows()), y(A.rows());
  for (std::int64_t n = 0; n < x.size(); ++n) x[n] = static_cast<T>(std::sin(0.7 * static_cast<double>(n) + 0.1));
  A.apply(x, y);
  const Device gpu = Device::cuda();
  const auto values = Array<T>(A.values()).to(gpu), from = x.to(gpu);
  Array<T> to(A.rows(), gpu);
  DeviceProduct<T>(grid, stencil, dof, gpu).apply(values.data(), from.data(), to.data());
  const auto found = to.to(Device::host());
  for (std::int64_t n = 0; n < y.size(); ++n) {
    ASSERT_EQ(found[n], y[n]) << stencil.name() << " b=" << dof << " row " << n << " of " << grid.nx << "x" << grid.ny << "x"
                              << grid.nz;
  }
}

TEST_F(DeviceProductTest, HasTheBitsOfTheHost) {
  for (const std::string& name : stencils::names()) {
    for (const Grid& grid : {Grid{37, 11, 5}, Grid{1, 9, 13}, Grid{70, 1, 1}, Grid{2, 3, 2}}) {
      for (int dof = 1; dof <= 10; ++dof) {
        expect_host_bits<double>(grid, stencils::named(name), dof, 3);
        expect_host_bits<float>(grid, stencils::named(name), dof, 4);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// What compute-sanitizer is run on.
TEST_F(DeviceProductTest, OneSmallCaseOfEachKernel) {
  for (const int dof : {1, 3, 9}) expect_host_bits<double>({5, 6, 4}, stencils::star7(), dof, 3);
}

TEST_F(DeviceProductTest, HasTheBitsOfTheHostForRandomStencils) {
  std::mt19937_64 random(8);
  for (int n = 0; n < 200 && !HasFatalFailure(); ++n) {
    const bool flat = n % 4 == 0;
    const Stencil stencil = reference::random_stencil(random, 40, 3, flat);
    expect_host_bits<double>(reference::random_grid(random, 12, flat), stencil, 1 + n % 9, random());
  }
}

TEST_F(DeviceProductTest, RefusesTheHost) {
  EXPECT_THROW(DeviceProduct<double>({4, 4, 4}, stencils::star7(), 1, Device::host()), Error);
}

}  // namespace
}  // namespace echelon
