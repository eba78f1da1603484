// SPDX-License-Identifier: BSD-3-Clause
// Patterns cut and ordered on a GPU against the host's `split` and `level_plan`, number by number; patterns permuted there;
// missing diagonals; waits in vain. Skipped, with the reason, where there is no GPU.
#include "echelon/factor/rows_gpu/device_triangles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "echelon/factor/rows_gpu/device_pattern_view.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/schedule/orders/rcm.hpp"
#include "echelon/schedule/rows/sweep_plan.hpp"
#include "echelon/schedule/rows_gpu/row_depth_view.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using DeviceTrianglesTest = GpuTest;
using Rows = std::vector<std::vector<std::int32_t>>;

Pattern pattern_of(const Rows& rows) {
  Pattern made{Array<std::int64_t>(static_cast<std::int64_t>(rows.size()) + 1, std::int64_t{0}), {}};
  std::vector<std::int32_t> column;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    column.insert(column.end(), rows[i].begin(), rows[i].end());
    made.start[static_cast<std::int64_t>(i) + 1] = static_cast<std::int64_t>(column.size());
  }
  made.column = Array<std::int32_t>(std::span<const std::int32_t>(column));
  return made;
}

Pattern pattern_of(const BlockCsr<double>& A) {
  return {Array<std::int64_t>(A.row_start()), Array<std::int32_t>(A.column())};
}

Pattern grid(Grid size, const Stencil& stencil) { return pattern_of(to_block_csr(problems::poisson(size, stencil))); }

Pattern on_gpu(const Pattern& host) { return {host.start.to(Device::cuda()), host.column.to(Device::cuda())}; }

Array<std::int32_t> inverse(const Array<std::int32_t>& order) {
  Array<std::int32_t> position(order.size());
  for (std::int64_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<std::int32_t>(i);
  return position;
}

Array<std::int32_t> shuffled(std::int64_t n, std::uint64_t seed) {
  Array<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

Pattern numbered(const Pattern& A, const Array<std::int32_t>& order) {
  return elimination_pattern(A.view(), order.span(), inverse(order).span());
}

/// Each row and so many before it.
Rows band(std::int32_t n, std::int32_t reach) {
  Rows rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = std::max(0, i - reach); j <= i; ++j) rows[static_cast<std::size_t>(i)].push_back(j);
  }
  return rows;
}

template <class T>
std::int64_t first_difference(const Array<T>& there, const Array<T>& expected) {
  const Array<T> found = there.to(Device::host());
  if (found.size() != expected.size()) return 0;
  const auto apart = std::mismatch(found.begin(), found.end(), expected.begin());
  return apart.first == found.end() ? -1 : apart.first - found.begin();
}

void expect_triangle(const DeviceTriangle& found, const TrianglePattern& expected, bool by_depth) {
  EXPECT_EQ(first_difference(found.start, expected.start), -1);
  EXPECT_EQ(first_difference(found.distance, expected.distance), -1);
  const double rows = static_cast<double>(expected.rows);
  EXPECT_EQ(found.mean_entries, rows > 0 ? static_cast<double>(expected.entries()) / rows : 0);
  const SweepPlan plan = level_plan(expected, 1);
  EXPECT_EQ(found.levels, by_depth ? plan.levels : 0);
  if (by_depth) {
    EXPECT_EQ(first_difference(found.tickets, plan.order), -1);
  } else {
    EXPECT_EQ(found.tickets.size(), 0);
  }
}

void expect_the_hosts(const Pattern& host) {
  TrianglePattern lower, upper;
  ASSERT_TRUE(split(host.view(), false, lower, upper));
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i + 1 < host.start.size(); ++i) longest = std::max(longest, host.start[i + 1] - host.start[i]);
  const Pattern there = on_gpu(host);
  const auto expect = [&](const DeviceTriangles& found, bool by_depth) {
    EXPECT_EQ(found.missing_diagonals, 0);
    EXPECT_EQ(found.longest, longest);
    {
      SCOPED_TRACE("lower");
      expect_triangle(found.lower, lower, by_depth);
    }
    SCOPED_TRACE("upper");
    expect_triangle(found.upper, upper, by_depth);
  };
  for (const auto schedule : {SweepSchedule::levels, SweepSchedule::sequential, SweepSchedule::automatic}) {
    SCOPED_TRACE(word(schedule));
    const DeviceTriangles cut = cut_on_device(there.view(), there.column.size(), schedule, Device::cuda());
    const bool by_depth =
        schedule == SweepSchedule::automatic ? !cut.lower.tickets.empty() : schedule == SweepSchedule::levels;
    expect(cut, by_depth);
    for (const bool narrow : {false, true}) {
      SCOPED_TRACE(narrow ? "from the host, narrow" : "from the host");
      TrianglePattern L, U;
      ASSERT_TRUE(split(host.view(), narrow, L, U));
      const DeviceTriangles brought = triangles_on_device(L, U, schedule, Device::cuda());
      expect(brought, by_depth);
      EXPECT_EQ(brought.lower.scattered, cut.lower.scattered);
      EXPECT_EQ(brought.lower.far_rows, cut.lower.far_rows);
    }
  }
}

/// What compute-sanitizer is run on.
TEST_F(DeviceTrianglesTest, OneSmallCaseOfEachKernel) {
  const Pattern A = pattern_of(reference::random_rows(70, 0.1, 3));
  expect_the_hosts(A);
  const Array<std::int32_t> order = shuffled(70, 1), position = inverse(order);
  const Pattern found =
      permuted_on_device(on_gpu(A).view(), A.column.size(), order.to(Device::cuda()), position.to(Device::cuda()));
  EXPECT_EQ(first_difference(found.column, numbered(A, order).column), -1);
}

TEST_F(DeviceTrianglesTest, RandomPatterns) {
  for (int n = 0; n < 60 && !HasFailure(); ++n) {
    SCOPED_TRACE(n);
    expect_the_hosts(pattern_of(reference::random_rows(1 + 13 * n, n % 3 == 0 ? 0.3 : 0.02, static_cast<std::uint64_t>(n))));
  }
}

TEST_F(DeviceTrianglesTest, GridsInEveryOrder) {
  for (const Stencil& stencil : {stencils::star7(), stencils::box27()}) {
    const Pattern natural = grid({40, 33, 27}, stencil);
    expect_the_hosts(natural);
    expect_the_hosts(numbered(natural, shuffled(natural.start.size() - 1, 2)));
    expect_the_hosts(numbered(natural, reverse_cuthill_mckee(natural.view())));
  }
}

TEST_F(DeviceTrianglesTest, ExtremeShapes) {
  expect_the_hosts(pattern_of(Rows{}));
  expect_the_hosts(pattern_of(Rows{{0}}));
  expect_the_hosts(pattern_of(band(5000, 0)));     // a diagonal: one level
  expect_the_hosts(pattern_of(band(700, 700)));    // a full lower triangle: as many levels as rows
  expect_the_hosts(pattern_of(band(200'000, 1)));  // a chain
  Rows arrow(30'000);
  for (std::int32_t i = 0; i < 30'000; ++i) {
    if (i > 0) arrow[0].push_back(i);
    arrow[static_cast<std::size_t>(i)].insert(arrow[static_cast<std::size_t>(i)].begin(), i);
    if (i > 0) arrow[static_cast<std::size_t>(i)].insert(arrow[static_cast<std::size_t>(i)].begin(), 0);
  }
  std::ranges::sort(arrow[0]);
  expect_the_hosts(pattern_of(arrow));
}

TEST_F(DeviceTrianglesTest, MissingDiagonalsAreCounted) {
  const Pattern host = pattern_of(Rows{{0, 2}, {0, 2}, {}, {1, 3}, {0, 1, 2, 3}});
  const Pattern there = on_gpu(host);
  for (const auto schedule : {SweepSchedule::levels, SweepSchedule::automatic}) {
    EXPECT_EQ(cut_on_device(there.view(), there.column.size(), schedule, Device::cuda()).missing_diagonals,
              missing_diagonals(host.view()));
  }
}

TEST_F(DeviceTrianglesTest, ChainsGoByDepthUnasked) {
  const auto has_tickets = [](const Pattern& host) {
    const Pattern there = on_gpu(host);
    const auto cut = cut_on_device(there.view(), there.column.size(), SweepSchedule::automatic, Device::cuda());
    return std::pair{!cut.lower.tickets.empty(), !cut.upper.tickets.empty()};
  };
  const Pattern natural = grid({20, 20, 20}, stencils::star7());
  EXPECT_EQ(has_tickets(natural), std::pair(true, true));
  EXPECT_EQ(has_tickets(numbered(natural, shuffled(8000, 3))), std::pair(false, false));
}

void expect_permuted(const Pattern& host) {
  const Pattern there = on_gpu(host);
  for (const auto& order : {shuffled(host.start.size() - 1, 5), reverse_cuthill_mckee(host.view())}) {
    const auto to = order.to(Device::cuda()), from = inverse(order).to(Device::cuda());
    const Pattern found = permuted_on_device(there.view(), there.column.size(), to, from);
    const Pattern expected = numbered(host, order);
    EXPECT_EQ(first_difference(found.start, expected.start), -1);
    EXPECT_EQ(first_difference(found.column, expected.column), -1);
  }
}

TEST_F(DeviceTrianglesTest, PermutedPatterns) {
  expect_permuted(grid({12, 11, 10}, stencils::box27()));
  expect_permuted(pattern_of(reference::random_rows(900, 0.1, 8)));
}

TEST_F(DeviceTrianglesTest, WaitsInVainEnd) {
  constexpr std::int32_t rows = 100;
  Array<std::int64_t> start(rows + 1);
  Array<std::int32_t> distance(rows - 1, 1), depth(2 * rows, Device::cuda());
  for (std::int64_t s = 0; s <= rows; ++s) start[s] = std::max<std::int64_t>(0, s - 1);
  const auto start_there = start.to(Device::cuda());
  const auto distance_there = distance.to(Device::cuda());
  RowDepthView view;
  view.rows = rows;
  for (int which = 0; which < 2; ++which) {
    view.triangle[which] = {start_there.data(), distance_there.data(), depth.data() + which * rows};
  }
  view.patience_seconds = 0.2;
  view.first_ticket = 2;
  RowDepths found = row_depth_kernels()->measure(0, view);
  EXPECT_EQ(found.waited_for, 31);
  EXPECT_EQ(found.waited, 32);
  view.first_ticket = 0;
  found = row_depth_kernels()->measure(0, view);
  EXPECT_EQ(found.waited, -1);
  EXPECT_EQ(found.levels[0], rows);
  EXPECT_EQ(found.levels[1], rows);
}

}  // namespace
}  // namespace echelon
