// SPDX-License-Identifier: BSD-3-Clause
// Rows that share their columns are found, and swept together give the bits of rows swept one by one.
#include "echelon/sweep/rows/rows_together.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/sweep/rows/triangular_sweep.hpp"
#include "tests/reference/ilu_reference.hpp"
#include "tests/reference/plan_check.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using Rows = std::vector<std::vector<std::int32_t>>;

std::vector<int> found(const Rows& distances, TriangleSide side, bool narrow = true) {
  const auto together = rows_together(reference::triangle_of(distances, narrow), side);
  return {together.begin(), together.end()};
}

TEST(RowsTogether, RunsAreFoundByHand) {
  // L: rows 1 and 2 need 0; row 3 needs 0 and 2 only; row 4 needs what 3 needs, and 3.
  const Rows lower{{}, {1}, {2, 1}, {3, 1}, {4, 2, 1}};
  EXPECT_EQ(found(lower, TriangleSide::lower), (std::vector<int>{3, 2, 1, 2, 1}));
  EXPECT_EQ(found(lower, TriangleSide::lower, false), (std::vector<int>{3, 2, 1, 2, 1}));
  Rows upper = lower;
  for (auto& row : upper) std::reverse(row.begin(), row.end());
  EXPECT_EQ(found(upper, TriangleSide::upper), (std::vector<int>{3, 2, 1, 2, 1}));
}

TEST(RowsTogether, FourAtMost) {
  Rows dense(7);
  for (std::int32_t s = 0; s < 7; ++s) {
    for (std::int32_t d = s; d > 0; --d) dense[static_cast<std::size_t>(s)].push_back(d);
  }
  EXPECT_EQ(found(dense, TriangleSide::lower), (std::vector<int>{4, 4, 4, 4, 3, 2, 1}));
}

TEST(RowsTogether, ALongerRowOfOtherColumnsIsNoRun) {
  // Each row is one longer than the row before, and never its continuation.
  EXPECT_TRUE(found({{}, {}, {2}, {3, 2}, {4, 3, 2}}, TriangleSide::lower).empty());
}

TEST(RowsTogether, RareRunsAndNoEntriesAreLeftAlone) {
  Rows line(5000, {2});
  line[0] = line[1] = {};
  line[100] = {3, 1};
  EXPECT_TRUE(found(line, TriangleSide::lower).empty());
  EXPECT_TRUE(found(Rows(3), TriangleSide::lower).empty());
  EXPECT_TRUE(found({}, TriangleSide::upper).empty());
}

/// Nodes of 1 to 6 unknowns, each coupled to itself and to all unknowns of some nodes around: rows of scalars.
Rows rows_of_nodes(int nodes, std::uint64_t seed, std::mt19937_64& random) {
  std::vector<std::vector<std::int32_t>> unknowns;
  std::int32_t n = 0;
  random.seed(seed);
  for (int v = 0; v < nodes; ++v) {
    std::vector<std::int32_t> own(1 + random() % 6);
    for (auto& row : own) row = n++;
    unknowns.push_back(own);
  }
  std::vector<std::set<int>> coupled(static_cast<std::size_t>(nodes));
  for (int v = 0; v < nodes; ++v) {
    coupled[static_cast<std::size_t>(v)].insert(v);
    for (int k = 0; k < 3; ++k) {
      const int w = std::max(0, v - static_cast<int>(random() % 9));
      coupled[static_cast<std::size_t>(v)].insert(w);
      coupled[static_cast<std::size_t>(w)].insert(v);
    }
  }
  Rows rows;
  for (int v = 0; v < nodes; ++v) {
    std::vector<std::int32_t> columns;
    for (const int w : coupled[static_cast<std::size_t>(v)]) {
      const auto& more = unknowns[static_cast<std::size_t>(w)];
      columns.insert(columns.end(), more.begin(), more.end());
    }
    rows.insert(rows.end(), unknowns[static_cast<std::size_t>(v)].size(), columns);
  }
  return rows;
}

template <class T>
void expect_sweeps_equal(const Rows& rows, std::mt19937_64& random, bool narrow) {
  const auto n = static_cast<std::int64_t>(rows.size());
  const auto number = [&random] { return static_cast<T>(static_cast<double>(random() % 2001) / 1000 - 1.0003); };
  for (const TriangleSide side : {TriangleSide::lower, TriangleSide::upper}) {
    Rows distances(rows.size());
    for (std::int64_t s = 0; s < n; ++s) {
      const auto i = side == TriangleSide::lower ? s : n - 1 - s;
      for (const auto j : rows[static_cast<std::size_t>(i)]) {
        const auto d = side == TriangleSide::lower ? i - j : j - i;
        if (d > 0) distances[static_cast<std::size_t>(s)].push_back(static_cast<std::int32_t>(d));
      }
    }
    const auto triangle = reference::triangle_of(distances, narrow);
    const auto together = rows_together(triangle, side);
    ASSERT_FALSE(together.empty());
    std::vector<T> values(static_cast<std::size_t>(triangle.entries())), inverse(rows.size()), r(rows.size());
    for (auto* list : {&values, &inverse, &r}) std::generate(list->begin(), list->end(), number);
    std::vector<T> one_by_one(rows.size()), in_runs(rows.size());
    SweepView<T> view{n,
                      1,
                      triangle.start.data(),
                      with_distances(triangle, [](const auto* d) { return static_cast<const void*>(d); }),
                      values.data(),
                      inverse.data(),
                      r.data(),
                      one_by_one.data(),
                      together.data()};
    const auto pick = [side](const SweepKernels<T>& kernels) {
      return side == TriangleSide::lower ? kernels.lower : kernels.upper;
    };
    pick(sweep_kernels<T>(1, narrow))(view, 0, n, nullptr);
    view.x = in_runs.data();
    // In pieces that cut runs, as the tasks of threads may.
    for (std::int64_t begin = 0; begin < n;) {
      const auto end = std::min<std::int64_t>(n, begin + 1 + static_cast<std::int64_t>(random() % 20));
      pick(sweep_kernels_together<T>(narrow))(view, begin, end, nullptr);
      begin = end;
    }
    ASSERT_EQ(one_by_one, in_runs) << (side == TriangleSide::lower ? "lower" : "upper");
  }
}

TEST(RowsTogether, TheSameBitsAsOneByOne) {
  std::mt19937_64 random;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto rows = rows_of_nodes(60, seed, random);
    for (const bool narrow : {false, true}) {
      expect_sweeps_equal<double>(rows, random, narrow);
      expect_sweeps_equal<float>(rows, random, narrow);
    }
  }
}

TEST(RowsTogether, IluOfNodesHasTheBitsOfTheReference) {
  std::mt19937_64 random;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto A = reference::with_random_values<double>(rows_of_nodes(40, seed, random), 1, seed);
    std::vector<double> r(static_cast<std::size_t>(A.rows()));
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = 1 + static_cast<double>(i % 7) / 3;
    for (const int fill : {0, 1}) {
      Vector<double> z(A.rows());
      ilu(A, {.fill = fill}).apply(Vector<double>(std::span<const double>(r)), z);
      EXPECT_EQ(std::vector<double>(z.begin(), z.end()), reference::apply(reference::ilu(A, fill), r)) << seed;
    }
  }
}

}  // namespace
}  // namespace echelon
