// SPDX-License-Identifier: BSD-3-Clause
// Every kernel, schedule and thread count gives the bits of the plain reference.
#include <gtest/gtest.h>

#include "echelon/base/threads.hpp"
#include "echelon/factor/rows/symbolic.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/schedule/rows/sweep_plan.hpp"
#include "tests/reference/ilu_reference.hpp"
#include "tests/reference/plan_check.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

constexpr SweepSchedule all_schedules[] = {SweepSchedule::automatic, SweepSchedule::sequential, SweepSchedule::levels,
                                           SweepSchedule::point_to_point};

template <class T>
std::vector<T> applied(const Ilu<T>& M, std::int64_t size) {
  Vector<T> r(size), z(size);
  for (std::int64_t i = 0; i < size; ++i) r[i] = static_cast<T>(1 + (i * 7) % 5 - 0.25 * static_cast<double>(i % 3));
  M.apply(r, z);
  return std::vector<T>(z.begin(), z.end());
}

template <class T>
std::vector<T> reference_applied(const BlockCsr<T>& A, int fill) {
  std::vector<T> r(static_cast<std::size_t>(A.rows()));
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = static_cast<T>(1 + (i * 7) % 5 - 0.25 * static_cast<double>(i % 3));
  return reference::apply(reference::ilu(A, fill), r);
}

template <class T>
void expect_same_factors(const Ilu<T>& M, const reference::IluFactors<T>& expected) {
  const auto L = M.lower(), U = M.upper();
  const int size = expected.block * expected.block;
  for (std::int64_t i = 0; i < L.block_rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    ASSERT_EQ(L.row_start()[row + 1] - L.row_start()[row], static_cast<std::int64_t>(expected.lower[row].size()))
        << "row " << i;
    auto p = L.row_start()[row];
    for (const auto& [j, block] : expected.lower[row]) {
      ASSERT_EQ(L.column()[static_cast<std::size_t>(p)], j);
      for (int e = 0; e < size; ++e) {
        ASSERT_EQ(L.values()[static_cast<std::size_t>(p * size + e)], block[static_cast<std::size_t>(e)]) << i << ' ' << j;
      }
      ++p;
    }
    p = U.row_start()[row];
    ASSERT_EQ(U.row_start()[row + 1] - p, static_cast<std::int64_t>(expected.upper[row].size()) + 1);
    ASSERT_EQ(U.column()[static_cast<std::size_t>(p++)], i);
    for (const auto& [j, block] : expected.upper[row]) {
      ASSERT_EQ(U.column()[static_cast<std::size_t>(p)], j);
      for (int e = 0; e < size; ++e) {
        ASSERT_EQ(U.values()[static_cast<std::size_t>(p * size + e)], block[static_cast<std::size_t>(e)]) << i << ' ' << j;
      }
      ++p;
    }
  }
}

class Threads {
 public:
  explicit Threads(int count) { set_threads(count); }
  ~Threads() { set_threads(0); }
};

template <class T>
void expect_equal_everywhere(const BlockCsr<T>& A, int fill, std::initializer_list<int> counts = {1, 2, 3, 4, 8}) {
  const auto expected = reference_applied(A, fill);
  expect_same_factors(ilu(A, {.fill = fill}), reference::ilu(A, fill));
  for (const int count : counts) {
    const Threads threads(count);
    for (const auto schedule : all_schedules) {
      const auto M = ilu(A, {.fill = fill, .schedule = schedule});
      ASSERT_TRUE(M.report().ok);
      ASSERT_EQ(M.report().perturbed_pivots, 0);
      ASSERT_EQ(applied(M, A.rows()), expected) << M.report().schedule << " with " << count << " threads";
    }
  }
}

TEST(IluEquality, RandomMatricesEveryBlockSizeAndFill) {
  for (const int block : {1, 2, 3, 4, 5, 6, 7, 8, 11}) {
    for (int fill = 0; fill <= 3; ++fill) {
      SCOPED_TRACE(testing::Message() << "block " << block << " fill " << fill);
      const std::int32_t n = 90 / block + 5;
      const auto seed = static_cast<std::uint64_t>(block * 10 + fill);
      const auto rows = reference::random_rows(n, 0.12, seed);
      expect_equal_everywhere(reference::with_random_values<double>(rows, block, seed), fill, {1 + (block + fill) % 4});
      expect_equal_everywhere(reference::with_random_values<float>(rows, block, seed), fill, {2});
    }
  }
}

TEST(IluEquality, StructuredMatricesThreaded) {
  const BlockCsr<double> matrices[] = {to_block_csr(problems::poisson({23, 17, 9}, stencils::star7())),
                                       to_block_csr(problems::random({11, 9, 7}, stencils::box27(), 1, 3)),
                                       to_block_csr(problems::random({7, 9, 5}, stencils::box27(), 4, 4))};
  for (const auto& A : matrices) {
    expect_equal_everywhere(A, 0);
    expect_equal_everywhere(A, 1);
  }
}

TEST(IluEquality, WideBandwidthUsesLongDistances) {
  // An arrow: the first column is full, so distances pass 65,535.
  constexpr std::int32_t n = 70'000;
  std::vector<std::vector<std::int32_t>> rows(n);
  for (std::int32_t i = 0; i < n; ++i) {
    rows[static_cast<std::size_t>(i)] = i == 0 ? std::vector<std::int32_t>{0, n - 1} : std::vector<std::int32_t>{0, i};
  }
  expect_equal_everywhere(reference::with_random_values<double>(rows, 1, 5), 0);
}

/// Bit e of `bits` is off-diagonal entry e of an n×n pattern whose diagonal is full.
std::vector<std::vector<std::int32_t>> pattern_of_bits(std::int32_t n, std::uint32_t bits) {
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j) {
      bool present = i == j;
      if (!present) {
        present = bits & 1;
        bits >>= 1;
      }
      if (present) rows[static_cast<std::size_t>(i)].push_back(j);
    }
  }
  return rows;
}

/// The sequential result is compared for every pattern; the plans of both triangles are played without threads, which
/// is enough for equality since a row's arithmetic does not know its plan, and every `threaded`-th pattern runs on threads
/// too.
void expect_pattern_equal(std::int32_t n, std::uint32_t bits, int fill, std::uint32_t threaded) {
  const auto rows = pattern_of_bits(n, bits);
  const auto A = reference::with_random_values<double>(rows, 1, bits);
  const auto expected = reference_applied(A, fill);
  ASSERT_EQ(applied(ilu(A, {.fill = fill, .schedule = SweepSchedule::sequential}), n), expected) << bits << " fill " << fill;
  TrianglePattern lower, upper;
  const auto pattern = filled_pattern({n, A.row_start().data(), A.column().data()}, fill);
  split(pattern.view(), true, lower, upper);
  for (const auto* triangle : {&lower, &upper}) {
    ASSERT_EQ(reference::broken_promise(level_plan(*triangle, 2), *triangle), "") << bits;
    for (const auto deal : {TaskShape::Deal::by_depth, TaskShape::Deal::lines, TaskShape::Deal::planes}) {
      ASSERT_EQ(reference::broken_promise(point_to_point_plan(*triangle, 2, {1, 2, deal}), *triangle), "") << bits;
    }
  }
  if (bits % threaded != 0) return;
  const Threads threads(2);
  for (const auto schedule : {SweepSchedule::levels, SweepSchedule::point_to_point}) {
    ASSERT_EQ(applied(ilu(A, {.fill = fill, .schedule = schedule}), n), expected) << bits << " fill " << fill;
  }
}

TEST(IluEquality, EveryPatternOfFourRows) {
  for (std::uint32_t bits = 0; bits < 4096; ++bits) expect_pattern_equal(4, bits, static_cast<int>(bits % 3), 61);
}

TEST(IluEqualityFull, EveryPatternOfFiveRows) {
  for (std::uint32_t bits = 0; bits < 1u << 20; ++bits) expect_pattern_equal(5, bits, static_cast<int>(bits % 3), 4093);
}

}  // namespace
}  // namespace echelon
