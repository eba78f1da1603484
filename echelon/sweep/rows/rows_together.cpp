// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/rows/rows_together.hpp"

#include <algorithm>

#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

constexpr int most_rows = 4;  // as the kernels
/// Entries of rows that continue a run, of all entries. With fewer, the choice at every row costs what the runs save.
constexpr double worthwhile_share = 0.25;
constexpr std::int64_t rows_worth_threads = 50'000;

/// Row s + 1 against row s. L: the shared columns, then s. U: s, then the shared columns.
template <class Distance>
bool continues(const TrianglePattern& triangle, const Distance* distance, TriangleSide side, std::int64_t s) {
  const auto* row = distance + triangle.start[s];
  const auto* next = distance + triangle.start[s + 1];
  const auto shared = triangle.start[s + 1] - triangle.start[s];
  if (triangle.start[s + 2] - triangle.start[s + 1] != shared + 1) return false;
  if ((side == TriangleSide::lower ? next[shared] : next[0]) != 1) return false;
  if (side == TriangleSide::upper) ++next;
  return std::equal(row, row + shared, next, [](Distance one, Distance other) { return one + 1 == other; });
}

/// Entries of rows that continue a run, of those of every `stride`-th row.
template <class Distance>
double sampled_share(const TrianglePattern& triangle, const Distance* distance, TriangleSide side, std::int64_t stride) {
  std::int64_t seen = 0, continuing = 0;
  for (std::int64_t s = 0; s + 1 < triangle.rows; s += stride) {
    const auto entries = triangle.start[s + 2] - triangle.start[s + 1];
    seen += entries;
    if (continues(triangle, distance, side, s)) continuing += entries;
  }
  return seen > 0 ? static_cast<double>(continuing) / static_cast<double>(seen) : 0;
}

template <class Distance>
Array<std::uint8_t> runs(const TrianglePattern& triangle, const Distance* distance, TriangleSide side) {
  // Matrices without runs should not pay for the search; 7 has no factor in common with usual unknowns a node.
  if (triangle.rows > 1000 && sampled_share(triangle, distance, side, 7) < worthwhile_share / 2) return {};
  const auto n = triangle.rows;
  Array<std::uint8_t> together(n);
  const int team = n >= rows_worth_threads ? threads() : 1;
#pragma omp parallel for num_threads(team) if (team > 1)
  for (std::int64_t s = 0; s < n - 1; ++s) together[s] = continues(triangle, distance, side, s) ? 1 : 0;
  together[n - 1] = 1;
  std::int64_t continuing = 0;
  for (auto s = n - 2; s >= 0; --s) {
    const bool goes_on = together[s] != 0;
    if (goes_on) continuing += triangle.start[s + 2] - triangle.start[s + 1];
    together[s] = static_cast<std::uint8_t>(goes_on ? std::min(most_rows, together[s + 1] + 1) : 1);
  }
  if (static_cast<double>(continuing) < worthwhile_share * static_cast<double>(triangle.entries())) return {};
  return together;
}

}  // namespace

Array<std::uint8_t> rows_together(const TrianglePattern& triangle, TriangleSide side) {
  if (triangle.entries() == 0) return {};
  return with_distances(triangle, [&](const auto* distance) { return runs(triangle, distance, side); });
}

}  // namespace echelon
