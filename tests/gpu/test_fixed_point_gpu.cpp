// SPDX-License-Identifier: BSD-3-Clause
// ParILU, ParIC and multicolour ILU on a GPU against the host's, bit for bit: every block size, order and fill, patterns on
// which only the diagonal changes, empty triangles, what is reported about bad pivots and sweeps that lead away; repeats,
// refactor, whole solves. Skipped, with the reason, where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "tests/expect_error.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/gpu/real_matrices.hpp"
#include "tests/gpu/same_factors.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using FixedPointGpu = GpuTest;
using FixedPointGpuFull = GpuTest;
using Rows = std::vector<std::vector<std::int32_t>>;

IluOptions swept(int sweeps, int fill = 0, Ordering ordering = Ordering::natural) {
  IluOptions options = with_fill(fill, ordering);
  options.factor_sweeps = sweeps;
  return options;
}

/// What compute-sanitizer is run on.
TEST_F(FixedPointGpu, OneSmallCaseOfEachKernel) {
  for (int b = 1; b <= 10; ++b) {
    SCOPED_TRACE(b);
    expect_host_bits(reference::with_random_values<double>(reference::random_rows(24, 0.2, 5), b, 7), swept(3, 1));
  }
  expect_host_bits(to_block_csr(problems::random({5, 4, 3}, stencils::star7(), 1, 3)), swept(3));
}

TEST_F(FixedPointGpu, HasTheBitsOfTheHost) {
  std::uint64_t seed = 1;
  for (int b = 1; b <= 10; ++b) {
    for (const Ordering ordering : {Ordering::natural, Ordering::rcm, Ordering::colours, Ordering::random_colours}) {
      for (int fill = 0; fill <= 2; ++fill) {
        for (const std::int32_t n : {1, 2, 33, 150, 400}) {
          SCOPED_TRACE(testing::Message() << "b " << b << " " << word(ordering) << " fill " << fill << " n " << n);
          ++seed;
          const Rows rows = reference::random_rows(n, std::min(0.5, 5.0 / n), seed);
          expect_host_bits(reference::with_random_values<double>(rows, b, seed),
                           swept(1 + static_cast<int>(seed % 4), fill, ordering));
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(FixedPointGpu, GridsOnWhichOnlyTheDiagonalChangesAndOthers) {
  for (const int sweeps : {1, 2, 5}) {
    for (const auto& stencil : {stencils::star5(), stencils::star7(), stencils::box27()}) {
      SCOPED_TRACE(testing::Message() << stencil.name() << ", " << sweeps);
      const Grid grid{41, 37, stencil.size() == 5 ? 1 : 19};
      expect_host_bits(to_block_csr(problems::random(grid, stencil, 1, 3)), swept(sweeps));
      expect_host_bits(to_block_csr(problems::poisson(grid, stencil)), swept(sweeps), true);
      if (HasFailure()) return;
    }
  }
}

TEST_F(FixedPointGpu, EmptyTrianglesAndDisconnectedRows) {
  for (const Rows& rows : reference::odd_rows()) {
    for (const int b : {1, 2, 9}) {
      SCOPED_TRACE(testing::Message() << rows.size() << " rows, b " << b);
      expect_host_bits(reference::with_random_values<double>(rows, b, 5), swept(2));
    }
  }
}

TEST_F(FixedPointGpu, LongRows) {
  const std::int32_t n = 3000;
  Rows arrow(n);
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) arrow[static_cast<std::size_t>(i)].push_back(0);
    arrow[static_cast<std::size_t>(i)].push_back(i);
    if (i < n - 1) arrow[static_cast<std::size_t>(i)].push_back(n - 1);
  }
  arrow[0].clear();
  arrow[n - 1].clear();
  for (std::int32_t j = 0; j < n; ++j) {
    arrow[0].push_back(j);
    arrow[n - 1].push_back(j);
  }
  expect_host_bits(reference::with_random_values<double>(arrow, 1, 11), swept(3));
}

TEST_F(FixedPointGpu, BadPivotsAndSweepsThatLeadAwayAreReportedAsOnTheHost) {
  std::mt19937_64 random(4);
  for (int n = 0; n < 60 && !HasFailure(); ++n) {
    const int b = n % 2 == 0 ? 1 : 1 + n % 9;
    SCOPED_TRACE(testing::Message() << "case " << n << " b " << b);
    const auto A = reference::spoiled_matrix(n, 80, b, random);
    for (const ShiftPolicy policy : {ShiftPolicy::none, ShiftPolicy::automatic, ShiftPolicy::value}) {
      IluOptions options = swept(3, n % 2);
      options.shift = policy;
      options.shift_value = policy == ShiftPolicy::value ? 0.5 : 0;
      expect_host_bits(A, options);
    }
  }
}

TEST_F(FixedPointGpu, ColoursAreEliminatedAsOnTheHost) {
  for (const int dof : {1, 3}) {
    for (const Ordering ordering : {Ordering::colours, Ordering::random_colours}) {
      const auto A = to_block_csr(problems::random({9, 8, 7}, dof == 1 ? stencils::box27() : stencils::star7(), dof, 3));
      for (const int fill : {0, 1}) expect_host_bits(A, with_fill(fill, ordering));
      expect_host_bits(A, swept(4, 0, ordering));
    }
  }
  expect_host_bits(to_block_csr(problems::poisson({9, 8, 7}, stencils::star7())), with_fill(0, Ordering::colours), true);
}

TEST_F(FixedPointGpu, RefactorAndRepeatsHaveTheSameBits) {
  const auto first = to_block_csr(problems::random({30, 30, 20}, stencils::star7(), 1, 9)),
             second = to_block_csr(problems::random({30, 30, 20}, stencils::star7(), 1, 10));
  DeviceBlockIlu M(first.to(Device::cuda()), swept(4));
  const auto before = M.factors();
  ASSERT_TRUE(M.refactor(second.to(Device::cuda())).ok);
  expect_same_factors(M, ilu(second, swept(4)), second.rows());
  for (int n = 0; n < 10; ++n) {
    ASSERT_TRUE(M.refactor(first.to(Device::cuda())).ok);
    ASSERT_EQ(difference(M.factors().lower.span(), before.lower.span()), -1) << n;
    ASSERT_EQ(difference(M.factors().inverse_diagonal.span(), before.inverse_diagonal.span()), -1) << n;
  }
}

/// Through the ladder, with matrices on the grid and in block CSR.
TEST_F(FixedPointGpu, WholeSolvesTakeAsManyIterationsAsTheHosts) {
  const auto grid = problems::poisson({20, 19, 18}, stencils::star7());
  const auto csr = to_block_csr(grid);
  const Vector<double> b(grid.rows(), 1.0);
  for (const char* pc : {"parilu", "mcilu"}) {
    SCOPED_TRACE(pc);
    SolveRequest request;
    request.wishes.pc = pc;
    Vector<double> x(grid.rows()), there(grid.rows()), from_csr(grid.rows());
    const auto host = solve_automatically(&csr, b, x, request);
    request.device = Device::cuda();
    const auto device = solve_automatically(&grid, b, there, request);
    const auto device_csr = solve_automatically(&csr, b, from_csr, request);
    ASSERT_TRUE(device.report.converged && device_csr.report.converged);
    EXPECT_NEAR(static_cast<double>(device.report.iterations), static_cast<double>(host.report.iterations), 1);
    EXPECT_EQ(device.report.preconditioner.name, host.report.preconditioner.name);
    EXPECT_EQ(difference(there.span(), from_csr.span()), -1);
  }
}

TEST_F(FixedPointGpuFull, RealMatrices) {
  if (!real_matrices()) GTEST_SKIP() << "ECHELON_DATA does not say where the matrices are";
  const int seen = for_real_matrices([](const std::string& name, const BlockCsr<double>& A) {
    for (const Ordering ordering : {Ordering::natural, Ordering::colours}) {
      SCOPED_TRACE(testing::Message() << name << " " << word(ordering));
      expect_host_bits(A, swept(3, 0, ordering));
      expect_host_bits(A, with_fill(0, ordering));
    }
  });
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace echelon
