// SPDX-License-Identifier: BSD-3-Clause
// ParILUT and ParICT on a GPU against the host's, bit for bit: patterns, factors, what is reported, what they do to a
// vector; orders, ties, empty rows, bad pivots, refactor, whole solves. Skipped, with the reason, where there is no GPU.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "echelon/precond/ilu_gpu/device_parilut.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "tests/expect_error.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/gpu/same_factors.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using FixedPointGpuThresholds = GpuTest;

void expect_same(const DeviceParilut& found, const Ilu<double>& host, std::int64_t n) {
  expect_same_report(found.report(), host.report());
  expect_same_number(found.report().threshold, host.report().threshold);
  if (testing::Test::HasFailure() || !host.report().ok) return;
  const DeviceParilut::Factors factors = found.factors();
  const BlockCsr<double> L = host.lower(), U = host.upper();
  ASSERT_EQ(factors.lower.size(), L.nonzeros());
  ASSERT_EQ(factors.upper.size() + n, U.nonzeros());
  for (std::int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(factors.lower_start[i + 1], L.row_start()[i + 1]) << i;
    for (auto p = L.row_start()[i]; p < L.row_start()[i + 1]; ++p) {
      ASSERT_EQ(i - factors.lower_distance[p], L.column()[p]) << i;
      ASSERT_EQ(factors.lower[p], L.values()[p]) << i << ", " << L.column()[p];
    }
    std::int64_t q = factors.upper_start[n - 1 - i];
    for (auto p = U.row_start()[i] + 1; p < U.row_start()[i + 1]; ++p, ++q) {
      ASSERT_EQ(i + factors.upper_distance[q], U.column()[p]) << i;
      ASSERT_EQ(factors.upper[q], U.values()[p]) << i << ", " << U.column()[p];
    }
    ASSERT_EQ(q, factors.upper_start[n - i]) << i;
    ASSERT_EQ(1 / factors.inverse_diagonal[i], U.values()[U.row_start()[i]]) << i;
  }
  const Vector<double> r = wave(n);
  Vector<double> z(n), result(n, Device::cuda());
  host.apply(r, z);
  found.apply(r.to(Device::cuda()), result);
  found.settle();
  EXPECT_EQ(difference(result.to(Device::host()).span(), z.span()), -1) << "z";
}

void expect_the_hosts(const BlockCsr<double>& A, const IluOptions& options, bool symmetric) {
  const Ilu<double> host = symmetric ? parict(A, options) : parilut(A, options);
  expect_same(DeviceParilut(A.to(Device::cuda()), options, symmetric), host, A.rows());
}

/// What compute-sanitizer is run on.
TEST_F(FixedPointGpuThresholds, OneSmallCaseOfEachKernel) {
  const auto A = to_block_csr(problems::variable_poisson({5, 4, 3}, stencils::star7()));
  for (const bool symmetric : {false, true}) expect_the_hosts(A, {.factor_sweeps = 2}, symmetric);
}

TEST_F(FixedPointGpuThresholds, HasTheBitsOfTheHost) {
  std::uint64_t seed = 1;
  for (const std::int32_t n : {1, 2, 33, 150, 400}) {
    for (const double limit : {0.0, 1.0, 2.0, 5.0}) {
      for (const Ordering ordering : {Ordering::natural, Ordering::rcm, Ordering::colours}) {
        SCOPED_TRACE(testing::Message() << "n " << n << " limit " << limit << " " << word(ordering));
        ++seed;
        const auto A =
            reference::with_random_values<double>(reference::random_rows(n, std::min(0.5, 4.0 / n), seed), 1, seed);
        expect_the_hosts(A, {.ordering = ordering, .factor_sweeps = 1 + static_cast<int>(seed % 4), .fill_limit = limit},
                         false);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(FixedPointGpuThresholds, GridsWithAndWithoutTies) {
  for (const bool symmetric : {false, true}) {
    SCOPED_TRACE(symmetric);
    expect_the_hosts(to_block_csr(problems::poisson({30, 29, 28}, stencils::star7())), {}, symmetric);
    expect_the_hosts(to_block_csr(problems::variable_poisson({30, 29, 28}, stencils::star7())), {.fill_limit = 2.4},
                     symmetric);
    if (HasFailure()) return;
  }
  expect_the_hosts(to_block_csr(problems::random({20, 19, 18}, stencils::box27(), 1, 3)), {.factor_sweeps = 2}, false);
}

TEST_F(FixedPointGpuThresholds, EmptyTrianglesMissingDiagonalsAndDisconnectedRows) {
  auto odd = reference::odd_rows();
  odd.push_back(reference::rows_with_holes);
  for (const auto& rows : odd) {
    SCOPED_TRACE(rows.size());
    expect_the_hosts(reference::with_random_values<double>(rows, 1, 5), {.factor_sweeps = 2}, false);
  }
}

TEST_F(FixedPointGpuThresholds, BadPivotsAreReportedAsOnTheHost) {
  std::mt19937_64 random(4);
  for (int n = 0; n < 40 && !HasFailure(); ++n) {
    SCOPED_TRACE(testing::Message() << "case " << n);
    const auto A = reference::spoiled_matrix(n, 80, 1, random);
    for (const ShiftPolicy policy : {ShiftPolicy::none, ShiftPolicy::automatic, ShiftPolicy::value}) {
      expect_the_hosts(A, {.shift = policy, .shift_value = policy == ShiftPolicy::value ? 0.5 : 0, .factor_sweeps = 2},
                       false);
    }
  }
}

TEST_F(FixedPointGpuThresholds, RefactorFindsThePatternAnew) {
  const auto A = to_block_csr(problems::random({12, 11, 10}, stencils::star7(), 1, 1)),
             B = to_block_csr(problems::random({12, 11, 10}, stencils::star7(), 1, 2)),
             other = to_block_csr(problems::random({5, 6, 6}, stencils::star7(), 1, 2));
  DeviceParilut M(A.to(Device::cuda()), {});
  ASSERT_TRUE(M.refactor(B.to(Device::cuda())).ok);
  expect_same(M, parilut(B), B.rows());
  EXPECT_ERROR(static_cast<void>(M.refactor(other.to(Device::cuda()))), structure, "were factored first");
}

TEST_F(FixedPointGpuThresholds, RefusesWhatItCannotDo) {
  const auto blocks = to_block_csr(problems::random({4, 4, 4}, stencils::star7(), 2, 1));
  EXPECT_ERROR(DeviceParilut(blocks.to(Device::cuda()), {}), bad_argument, "blocks of size 1");
  EXPECT_ERROR(DeviceParilut(to_block_csr(problems::poisson({3, 3, 3}, stencils::star7())), {}), bad_argument,
               "on the host");
}

TEST_F(FixedPointGpuThresholds, AWholeSolveTakesAsManyIterationsAsTheHosts) {
  const auto grid = problems::poisson({20, 19, 18}, stencils::star7());
  const Vector<double> b(grid.rows(), 1.0);
  SolveRequest request;
  request.wishes.pc = "parilut";
  Vector<double> x(grid.rows()), there(grid.rows());
  const auto host = solve_automatically(&grid, b, x, request);
  request.device = Device::cuda();
  const auto device = solve_automatically(&grid, b, there, request);
  ASSERT_TRUE(device.report.converged);
  EXPECT_NEAR(static_cast<double>(device.report.iterations), static_cast<double>(host.report.iterations), 1);
  EXPECT_EQ(device.report.preconditioner.name, "parict");
}

}  // namespace
}  // namespace echelon
