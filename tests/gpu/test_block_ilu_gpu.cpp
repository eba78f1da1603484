// SPDX-License-Identifier: BSD-3-Clause
// ILU of block CSR on a GPU against the host's, bit for bit: every block size, both orders, fill, rows that do not fit into
// shared memory; what is reported about bad pivots; repeats; refactor; waits in vain; real matrices. Skipped, with the
// reason, where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "echelon/base/small_block.hpp"
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/gpu/real_matrices.hpp"
#include "tests/gpu/same_factors.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using BlockIluGpu = GpuTest;
using BlockIluGpuFull = GpuTest;
using Rows = std::vector<std::vector<std::int32_t>>;

constexpr double patience = 0.2;

/// Diagonal, and a full last row and column, and a full first one.
Rows arrow(std::int32_t n) {
  Rows rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j) {
      if (i == j || i == n - 1 || j == n - 1 || i == 0 || j == 0) rows[static_cast<std::size_t>(i)].push_back(j);
    }
  }
  return rows;
}

/// What compute-sanitizer is run on.
TEST_F(BlockIluGpu, OneSmallCaseOfEachKernel) {
  for (int b = 1; b <= 10; ++b) {
    SCOPED_TRACE(b);
    for (const int fill : {0, 1}) {
      IluOptions options = with_fill(fill);
      if (fill == 1) options.schedule = SweepSchedule::levels;  // sweeps by one block
      expect_host_bits(reference::with_random_values<double>(reference::random_rows(24, 0.2, 5), b, 7), options);
    }
  }
  // Scalars in rows of up to 24, 50, 90 and 160 entries, spread over the GPU and in one cluster.
  for (const std::int32_t n : {24, 50, 90, 160}) {
    for (const SweepSchedule schedule : {SweepSchedule::sequential, SweepSchedule::levels}) {
      IluOptions options = with_fill(0);
      options.schedule = schedule;
      expect_host_bits(reference::with_random_values<double>(reference::random_rows(n, 0.95, 5), 1, 7), options);
    }
  }
}

TEST_F(BlockIluGpu, HasTheBitsOfTheHost) {
  std::uint64_t seed = 1;
  for (int b = 1; b <= 10; ++b) {
    for (const Ordering ordering : {Ordering::natural, Ordering::rcm}) {
      for (int fill = 0; fill <= 2; ++fill) {
        for (const std::int32_t n : {1, 2, 33, 150, 400}) {
          SCOPED_TRACE(testing::Message() << "b " << b << " rcm " << (ordering == Ordering::rcm) << " fill " << fill << " n "
                                          << n);
          IluOptions options = with_fill(fill, ordering);
          constexpr SweepSchedule schedules[] = {SweepSchedule::automatic, SweepSchedule::sequential, SweepSchedule::levels};
          options.schedule = schedules[++seed % 3];
          const Rows rows = reference::random_rows(n, std::min(0.5, 5.0 / n), seed);
          expect_host_bits(reference::with_random_values<double>(rows, b, seed), options);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(BlockIluGpu, RowsTooLongForSharedMemory) {
  for (const int b : {1, 2, 3, 5, 8, 9}) {
    SCOPED_TRACE(b);
    expect_host_bits(reference::with_random_values<double>(arrow(b == 1 ? 3000 : 300), b, 11), with_fill(0));
    expect_host_bits(reference::with_random_values<double>(arrow(b == 1 ? 300 : 60), b, 12), with_fill(1));
    if (HasFailure()) return;
  }
}

TEST_F(BlockIluGpu, GridsInEveryOrder) {
  for (const int dof : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const auto A = to_block_csr(problems::random({9, 8, 7}, dof == 1 ? stencils::box27() : stencils::star7(), dof, 3));
    for (const Ordering ordering : {Ordering::natural, Ordering::rcm}) {
      SCOPED_TRACE(testing::Message() << "b " << dof << " rcm " << (ordering == Ordering::rcm));
      expect_host_bits(A, with_fill(dof < 4 ? 1 : 0, ordering));
      if (HasFailure()) return;
    }
  }
}

/// Rows of up to `longest` entries that need none that is near: these are dealt out to warps beforehand.
Rows scattered_rows(std::int32_t n, int longest, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Rows rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row.push_back(i);
    for (int e = 1; e < longest; ++e) {
      const auto j = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n));
      const bool near = j < i && (i - j) * 12 < n && random() % 8 != 0;
      if (!near && std::ranges::find(row, j) == row.end()) row.push_back(j);
    }
    std::ranges::sort(row);
  }
  return rows;
}

TEST_F(BlockIluGpu, RowsThatNeedNoneThatIsNear) {
  for (const int b : {2, 3, 4, 5, 6, 7, 8}) {
    for (const int longest : {7, 12}) {
      for (const std::int32_t n : {40, 5000}) {
        SCOPED_TRACE(testing::Message() << "b " << b << " longest " << longest << " n " << n);
        const Rows rows = scattered_rows(n, longest, static_cast<std::uint64_t>(b));
        expect_host_bits(reference::with_random_values<double>(rows, b, 21), with_fill(0));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(BlockIluGpu, MissingDiagonalsAndBadPivotsAreReportedAsOnTheHost) {
  std::mt19937_64 random(4);
  for (int n = 0; n < 60 && !HasFailure(); ++n) {
    const int b = 1 + n % 9;
    SCOPED_TRACE(testing::Message() << "case " << n << " b " << b);
    auto A = reference::with_random_values<double>(reference::random_rows(80, n < 40 ? 0.08 : 0.02, random(), n % 2 == 0), b,
                                                   random(), n % 3 == 0 ? 0.0 : 1.2);
    const auto values = A.values();
    const auto some = [&] { return random() % values.size(); };
    for (int zeros = 0; zeros < static_cast<int>(values.size()) / 6; ++zeros) values[some()] = 0;
    if (n % 5 == 1) values[some()] = 1e300;
    if (n % 5 == 2) values[some()] = std::numeric_limits<double>::infinity();
    if (n % 5 == 3) values[some()] = std::numeric_limits<double>::quiet_NaN();
    for (const ShiftPolicy policy : {ShiftPolicy::none, ShiftPolicy::automatic, ShiftPolicy::value}) {
      IluOptions options = with_fill(n % 2);
      options.shift = policy;
      options.shift_value = policy == ShiftPolicy::value ? 0.5 : 0;
      expect_host_bits(A, options);
    }
  }
}

TEST_F(BlockIluGpu, CholeskyAndItsRefusals) {
  for (const int fill : {0, 1})
    expect_host_bits(to_block_csr(problems::poisson({8, 7, 6}, stencils::star7())), with_fill(fill), true);
  for (const int b : {1, 2, 3}) {
    auto A = to_block_csr(problems::poisson({6, 6, 6}, stencils::star7()));
    for (std::int64_t p = A.row_start()[100]; p < A.row_start()[101]; ++p) {
      if (A.column()[p] == 100) A.values()[p] = -5;
    }
    SCOPED_TRACE(b);
    expect_host_bits(b == 1 ? A.clone() : reblock(A, b), with_fill(0), true);
  }
}

TEST_F(BlockIluGpu, RefactorTakesNewValuesAndRefusesOtherPatterns) {
  const Rows rows = reference::random_rows(200, 0.04, 3);
  const auto first = reference::with_random_values<double>(rows, 3, 1),
             second = reference::with_random_values<double>(rows, 3, 2);
  DeviceBlockIlu found(first.to(Device::cuda()), with_fill(1, Ordering::rcm));
  EXPECT_TRUE(found.refactor(second.to(Device::cuda())).ok);
  expect_same_factors(found, ilu(second, with_fill(1, Ordering::rcm)), second.rows());
  Rows other = rows;
  other[7] = other[8];
  const auto moved = reference::with_random_values<double>(other, 3, 2).to(Device::cuda());
  EXPECT_ERROR(static_cast<void>(found.refactor(moved)), structure, "pattern");
}

/// Diagonals, and as many others as it says, drawn from all columns.
Rows scattered_rows(std::int32_t n, int others) {
  std::mt19937_64 random(6);
  Rows rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row.push_back(i);
    for (int e = 0; e < others; ++e) row.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n)));
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return rows;
}

/// As many entries as before, whose rows are in turn of other lengths, have moved a column, or have changed places.
std::vector<Rows> others_of_equal_size(const Rows& rows) {
  const auto n = static_cast<std::int32_t>(rows.size());
  const auto free_column = [n](const std::vector<std::int32_t>& row) {
    std::int32_t j = n - 1;
    while (std::ranges::find(row, j) != row.end()) --j;
    return j;
  };
  std::size_t longer = 1;
  while (rows[longer].size() < 2) ++longer;
  std::vector<Rows> others(3, rows);
  auto& shorter = others[0][longer];
  shorter.pop_back();
  auto& grown = others[0][longer + 1];
  grown.push_back(free_column(grown));
  std::ranges::sort(grown);
  auto& moved = others[1][longer];
  const auto from = std::ranges::find_if(moved, [&](std::int32_t j) { return j != static_cast<std::int32_t>(longer); });
  *from = free_column(moved);
  std::ranges::sort(moved);
  std::swap(others[2][3], others[2][longer + 5]);
  return others;
}

/// Found out on the device, behind which the factorization is already queued.
TEST_F(BlockIluGpu, PatternsOfEqualSizeAreRefusedAndLeaveTheFactors) {
  struct Case {
    const char* name;
    int block;
    Rows rows;
    int factor_sweeps = 0;
  };
  const Case cases[] = {{"short scalar rows", 1, reference::random_rows(300, 0.02, 3)},
                        {"long scalar rows", 1, reference::random_rows(300, 0.2, 3)},
                        {"longest scalar rows", 1, reference::random_rows(300, 0.6, 3)},
                        {"many rows that are dealt out", 1, scattered_rows(200'000, 3)},
                        {"many long rows, two to a warp", 1, scattered_rows(200'000, 19)},
                        {"columns of blocks", 3, reference::random_rows(300, 0.02, 3)},
                        {"blocks", 8, reference::random_rows(200, 0.05, 3)},
                        {"large blocks", 9, reference::random_rows(100, 0.05, 3)},
                        {"fixed point", 1, reference::random_rows(300, 0.02, 3), 3}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    IluOptions options;
    options.factor_sweeps = one.factor_sweeps;
    const auto A = reference::with_random_values<double>(one.rows, one.block, 1);
    const Ilu<double> host = ilu(A, options);
    DeviceBlockIlu found(A.to(Device::cuda()), options);
    for (const Rows& other : others_of_equal_size(one.rows)) {
      const auto refused = reference::with_random_values<double>(other, one.block, 2).to(Device::cuda());
      ASSERT_EQ(refused.blocks(), A.blocks());
      EXPECT_ERROR(static_cast<void>(found.refactor(refused)), structure, "pattern");
      expect_same_factors(found, host, A.rows());
      EXPECT_TRUE(found.refactor(A.to(Device::cuda())).ok);
      expect_same_factors(found, host, A.rows());
      if (HasFailure()) return;
    }
  }
}

/// A bound, an estimate, an estimate whose sweep was queued ahead, a bound again: each the host's number.
TEST_F(BlockIluGpu, GrowthIsTheHostsAlsoWhenItIsSweptForAhead) {
  for (const int b : {1, 2, 3, 5, 8, 9}) {
    SCOPED_TRACE(b);
    const Rows rows = reference::random_rows(200, 0.05, 3);
    DeviceBlockIlu found(reference::with_random_values<double>(rows, b, 1).to(Device::cuda()), {});
    for (const double dominance : {1.5, 0.05, 0.05, 1.5, 0.05}) {
      const auto A = reference::with_random_values<double>(rows, b, 2, dominance);
      EXPECT_TRUE(found.refactor(A.to(Device::cuda())).ok);
      expect_same_factors(found, ilu(A), A.rows());
    }
  }
}

TEST_F(BlockIluGpu, RepeatsHaveTheSameBits) {
  for (const int dof : {1, 4}) {
    const auto A = to_block_csr(problems::random({40, 40, 20}, stencils::star7(), dof, 9)).to(Device::cuda());
    DeviceBlockIlu M(A, with_fill(0));
    const auto first = M.factors();
    const Vector<double> r = wave(A.rows()).to(Device::cuda());
    Vector<double> z(A.rows(), Device::cuda());
    M.apply(r, z);
    const auto answer = z.to(Device::host());
    for (int n = 0; n < 20; ++n) {
      ASSERT_TRUE(M.refactor(A).ok);
      const auto again = M.factors();
      ASSERT_EQ(difference(again.upper.span(), first.upper.span()), -1) << n;
      ASSERT_EQ(difference(again.lower.span(), first.lower.span()), -1) << n;
      M.apply(r, z);
      ASSERT_EQ(difference(z.to(Device::host()).span(), answer.span()), -1) << n;
    }
    M.settle();
  }
}

bool has_one_block(const DeviceBlockIlu& M) { return M.report().kernel.find("one block") != std::string::npos; }

/// A chain through all rows.
BlockCsr<double> band(std::int32_t n, std::int32_t reach, int b) {
  Rows rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = std::max(0, i - reach); j <= std::min(n - 1, i + reach); ++j) {
      if (std::abs(i - j) < 2 || (i * 7 + j * 13) % 3 > 0) rows[static_cast<std::size_t>(i)].push_back(j);
    }
  }
  return reference::with_random_values<double>(rows, b, 3);
}

/// Short rows, long ones of which a warp has room for a few only, and blocks; in few levels all processors sweep.
TEST_F(BlockIluGpu, FewRowsInChainsAreSweptByOneBlock) {
#ifdef ECHELON_RACECHECK
  GTEST_SKIP() << "racecheck's build leaves the kernel out; every other has it";
#endif
  struct Case {
    BlockCsr<double> A;
    bool one_block;
  };
  std::vector<Case> cases;
  cases.push_back({to_block_csr(problems::poisson({90, 80, 1}, stencils::star5())), true});
  cases.push_back({to_block_csr(problems::poisson({20, 20, 20}, stencils::star7())), false});
  cases.push_back({band(1500, 120, 1), true});
  cases.push_back({band(9000, 3, 1), true});
  for (const int b : {2, 3, 5, 6, 7, 8}) cases.push_back({band(260, 12, b), true});
  cases.push_back({band(60, 5, 9), false});
  IluOptions options;
  options.schedule = SweepSchedule::levels;
  for (const Case& one : cases) {
    SCOPED_TRACE(testing::Message() << "n " << one.A.block_rows() << " b " << one.A.block());
    expect_host_bits(one.A, options);
    const DeviceBlockIlu M(one.A.to(Device::cuda()), options);
    EXPECT_EQ(has_one_block(M), one.one_block) << M.report().kernel;
    const Vector<double> r = wave(one.A.rows()).to(Device::cuda());
    Vector<double> z(r.size(), Device::cuda()), again(r.size(), Device::cuda());
    M.apply(r, z);
    for (int n = 0; n < 20; ++n) {
      M.apply(r, again);
      ASSERT_EQ(difference(again.to(Device::host()).span(), z.to(Device::host()).span()), -1) << "time " << n;
    }
  }
}

/// What a kernel may have of shared memory is not an object's own.
TEST_F(BlockIluGpu, LargeOnesStayUsableBesideSmallerOnes) {
  for (const SweepSchedule schedule : {SweepSchedule::levels, SweepSchedule::sequential}) {
    for (const int b : {1, 4, 6, 20}) {
      SCOPED_TRACE(b);
      IluOptions options;
      options.schedule = schedule;
      const BlockCsr<double> A = b == 20 ? band(40, 3, 20) : band(b == 1 ? 9000 : 600, b == 1 ? 3 : 9, b);
      const BlockCsr<double> there = A.to(Device::cuda());
      DeviceBlockIlu large(there, options);
      const DeviceBlockIlu small(band(30, 1, b == 20 ? 10 : b).to(Device::cuda()), options);
      ASSERT_TRUE(large.refactor(there).ok);
      expect_same_factors(large, ilu(A, options), A.rows());
    }
  }
}

TEST_F(BlockIluGpu, WaitsInVainEnd) {
  for (const int b : {1, 3, 9, -1, -3}) {
    SCOPED_TRACE(b);
    const auto A =
        reference::with_random_values<double>(reference::random_rows(300, 0.03, 3), std::abs(b), 1).to(Device::cuda());
    IluOptions options;
    if (b < 0) options.schedule = SweepSchedule::levels;
    DeviceBlockIlu M(A, options);
#ifndef ECHELON_RACECHECK
    EXPECT_EQ(has_one_block(M), b < 0) << M.report().kernel;
#endif
    const Vector<double> r = wave(A.rows()).to(Device::cuda());
    Vector<double> z(A.rows(), Device::cuda()), again(A.rows(), Device::cuda());
    M.apply(r, z);
    M.settle();
    M.leave_out_of_sweep(1, patience);
    M.apply(r, again);
    EXPECT_ERROR(M.settle(), device, "which never came");
    M.apply(r, again);
    M.settle();
    EXPECT_EQ(difference(again.to(Device::host()).span(), z.to(Device::host()).span()), -1) << "after a sweep was given up";
    M.leave_out_of_factorization(1, patience);
    EXPECT_ERROR(static_cast<void>(M.refactor(A)), device, "which never came");
    EXPECT_TRUE(M.refactor(A).ok);
  }
}

TEST_F(BlockIluGpu, RefusesWhatItCannotDo) {
  const auto A = reference::with_random_values<double>(reference::random_rows(20, 0.2, 3), 2, 1);
  EXPECT_ERROR(DeviceBlockIlu(A, {}), bad_argument, "on the host");
  IluOptions narrow;
  narrow.precision = Stored::fp32;
  EXPECT_ERROR(DeviceBlockIlu(A.to(Device::cuda()), narrow), bad_argument, "fp32");
  const DeviceBlockIlu M(A.to(Device::cuda()), {});
  Vector<double> host(A.rows()), there(A.rows(), Device::cuda()), small(3, Device::cuda());
  EXPECT_ERROR(M.apply(host, there), device, "mixing places");
  EXPECT_ERROR(M.apply(small, there), size_mismatch, "right-hand side");
}

TEST_F(BlockIluGpuFull, RealMatrices) {
  if (!real_matrices()) GTEST_SKIP() << "ECHELON_DATA does not say where the matrices are";
  const int seen = for_real_matrices([](const std::string& name, const BlockCsr<double>& A) {
    for (const Ordering ordering : {Ordering::natural, Ordering::rcm}) {
      for (const int fill : {0, 1}) {
        SCOPED_TRACE(testing::Message() << name << " fill " << fill << " " << word(ordering));
        expect_host_bits(A, with_fill(fill, ordering));
      }
    }
  });
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace echelon
