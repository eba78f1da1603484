// SPDX-License-Identifier: BSD-3-Clause
// Factors that the host made and a GPU sweeps: the host's bits for ILUT, ILUTP and ParILUT, blocks, orders and exchanged
// columns, several vectors; failed factorizations; whole automatic solves. Skipped, with the reason, where there is no GPU.
#include "echelon/precond/ilu_gpu/device_factored_ilu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "echelon/factor/rows/symbolic.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "tests/expect_error.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using DeviceFactoredIluTest = GpuTest;
using V = Vector<double>;

V wave(std::int64_t n, double phase = 0) {
  V x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  return x;
}

void expect_bits(const V& there, const V& expected) {
  const V found = there.to(Device::host());
  for (std::int64_t i = 0; i < expected.size(); ++i) ASSERT_EQ(found[i], expected[i]) << i;
}

void expect_host_bits(const Ilu<double>& host, std::int64_t n) {
  ASSERT_TRUE(host.report().ok) << host.report().message;
  const Device gpu = Device::cuda();
  for (const auto schedule : {SweepSchedule::automatic, SweepSchedule::sequential, SweepSchedule::levels}) {
    const DeviceFactoredIlu there(host, schedule, gpu);
    EXPECT_EQ(there.report().fill_ratio, host.report().fill_ratio);
    std::vector<V> r, z, expected;
    for (int k = 0; k < 3; ++k) {
      const V one = wave(n, k);
      expected.emplace_back(n);
      host.apply(one, expected.back());
      r.push_back(one.to(gpu));
      z.emplace_back(n, gpu);
    }
    there.apply(r[0], z[0]);
    there.settle();
    expect_bits(z[0], expected[0]);
    there.apply_many(r, z);
    there.settle();
    for (std::size_t k = 0; k < r.size(); ++k) expect_bits(z[k], expected[k]);
    there.apply(r[0], r[0]);
    there.settle();
    expect_bits(r[0], expected[0]);
  }
}

TEST_F(DeviceFactoredIluTest, IlutHasTheBitsOfTheHost) {
  const auto A = to_block_csr(problems::convection_diffusion({17, 13, 9}, stencils::star7()));
  for (const std::int64_t lfil : {0, 3, 25}) {
    for (const auto ordering : {Ordering::natural, Ordering::rcm, Ordering::colours}) {
      expect_host_bits(ilut(A, {.ordering = ordering, .drop = 1e-4, .lfil = lfil}), A.rows());
    }
  }
  for (const int b : {2, 3, 5, 8, 9}) {
    const auto blocks = to_block_csr(problems::random({6, 5, 4}, stencils::star7(), b, 3));
    expect_host_bits(ilut(blocks, {.lfil = 6}), blocks.rows());
  }
}

TEST_F(DeviceFactoredIluTest, GaussSeidelHasTheBitsOfTheHost) {
  for (const int b : {1, 2, 5, 9}) {
    const auto A = to_block_csr(problems::random({9, 7, 5}, stencils::box27(), b, 3));
    for (const double omega : {1.0, 1.4}) expect_host_bits(sgs(A, omega), A.rows());
  }
}

TEST_F(DeviceFactoredIluTest, GaussSeidelByNameTakesTheIterationsOfTheHost) {
  const auto grid = problems::poisson({24, 20, 16}, stencils::box27());
  const auto csr = to_block_csr(grid);
  const V b(grid.rows(), 1.0);
  SolveRequest request;
  request.wishes.pc = "sgs";
  V x(grid.rows()), there(grid.rows());
  const auto host = solve_automatically(&csr, b, x, request);
  request.device = Device::cuda();
  const auto device = solve_automatically(&grid, b, there, request);
  ASSERT_TRUE(host.report.converged && device.report.converged);
  EXPECT_EQ(device.report.preconditioner.name, "sgs");
  EXPECT_NEAR(static_cast<double>(device.report.iterations), static_cast<double>(host.report.iterations), 1);
}

TEST_F(DeviceFactoredIluTest, ExchangedColumnsToo) {
  const auto A = reference::with_random_values<double>(reference::random_rows(300, 0.02, 5), 1, 11, 0.02);
  const auto host = ilut(A, {.drop = 1e-3, .lfil = 30, .column_pivoting = 0.5});
  EXPECT_GT(host.report().column_swaps, 0);
  expect_host_bits(host, A.rows());
}

TEST_F(DeviceFactoredIluTest, ParIlutToo) {
  const auto A = to_block_csr(problems::poisson({11, 10, 9}, stencils::star7()));
  expect_host_bits(parict(A), A.rows());
  const auto B = to_block_csr(problems::convection_diffusion({11, 10, 9}, stencils::star7()));
  expect_host_bits(parilut(B), B.rows());
}

TEST_F(DeviceFactoredIluTest, SmallAndFailedOnes) {
  expect_host_bits(ilut(from_triplets<double>(1, 1, std::vector<Triplet<double>>{{0, 0, 4.0}})), 1);
  const auto zero = from_triplets<double>(2, 2, std::vector<Triplet<double>>{{0, 0, 1.0}, {1, 0, 1.0}});
  const DeviceFactoredIlu failed(ilut(zero, {.shift = ShiftPolicy::none}), SweepSchedule::automatic, Device::cuda());
  EXPECT_FALSE(failed.report().ok);
  V r(2, Device::cuda()), z(2, Device::cuda());
  EXPECT_ERROR(failed.apply(r, z), bad_argument, "failed factorization");
  const DeviceFactoredIlu fine(ilut(zero), SweepSchedule::automatic, Device::cuda());
  V on_host(2, 1.0);
  EXPECT_ERROR(fine.apply(on_host, z), device, "mixing places");
  EXPECT_ERROR((void)DeviceFactoredIlu(ilu(problems::poisson({3, 3, 3}, stencils::star7())), SweepSchedule::automatic,
                                       Device::cuda()),
               bad_argument, "on a grid");
}

TEST_F(DeviceFactoredIluTest, SolvesByNameTakeTheHostsWay) {
  const auto A = to_block_csr(problems::convection_diffusion({20, 20, 20}, stencils::star7()));
  const V b = wave(A.rows());
  for (const char* pc : {"ilut", "parilut"}) {
    for (const bool match : {false, true}) {
      if (match && std::string(pc) == "parilut") continue;
      SolveRequest request;
      request.wishes.pc = pc;
      request.wishes.options.match_rows = match;
      V x(A.rows(), 0.0), on_host(A.rows(), 0.0);
      const AutoOutcome host = solve_automatically(&A, b, on_host, request);
      request.device = Device::cuda();
      const AutoOutcome there = solve_automatically(&A, b, x, request);
      EXPECT_TRUE(there.report.converged) << there.report.message;
      EXPECT_EQ(there.choice.name(), host.choice.name());
      EXPECT_NEAR(static_cast<double>(there.report.iterations), static_cast<double>(host.report.iterations), 1);
    }
  }
}

}  // namespace
}  // namespace echelon
