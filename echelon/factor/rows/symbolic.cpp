// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/counted_fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"

namespace echelon {

std::int64_t missing_diagonals(const PatternView& A) {
  std::int64_t missing = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    missing += !std::binary_search(A.column + A.start[i], A.column + A.start[i + 1], static_cast<std::int32_t>(i));
  }
  return missing;
}

Pattern elimination_pattern(const PatternView& A, std::span<const std::int32_t> order,
                            std::span<const std::int32_t> position) {
  const bool natural = order.empty();
  Pattern P{Array<std::int64_t>(A.rows + 1), Array<std::int32_t>(A.start[A.rows] + missing_diagonals(A))};
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    P.start[i] = at;
    const auto row = natural ? i : order[i];
    bool diagonal = false;
    for (auto p = A.start[row]; p < A.start[row + 1]; ++p) {
      const auto column = natural ? A.column[p] : position[A.column[p]];
      diagonal = diagonal || column == i;
      P.column[at++] = column;
    }
    if (!diagonal) P.column[at++] = static_cast<std::int32_t>(i);
    if (!natural || !diagonal) std::sort(P.column.data() + P.start[i], P.column.data() + at);
  }
  P.start[A.rows] = at;
  return P;
}

namespace {

/// Fill can outgrow any machine. Asked before the lists double: old and new column and level, 12 bytes of factors an entry.
void require_room(const std::vector<std::int32_t>& column, int fill) {
  const auto entries = static_cast<std::int64_t>(2 * column.capacity());
  require_memory(entries * (8 + 4 + 12), fmt::format("fill level {}: a pattern of {} entries or more", fill, entries));
}

}  // namespace

Pattern filled_pattern(const PatternView& A, int fill) {
  WorkBudget anything("", 0);
  return filled_pattern(A, fill, anything);
}

Pattern filled_pattern(const PatternView& A, int fill, WorkBudget& budget) {
  const auto n = static_cast<std::int32_t>(A.rows);
  constexpr auto absent = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> column, level;
  column.reserve(static_cast<std::size_t>(A.start[n]));
  level.reserve(static_cast<std::size_t>(A.start[n]));
  std::vector<std::int64_t> diagonal(static_cast<std::size_t>(n));
  // The row being merged, as a list sorted by column; n is its end.
  std::vector<std::int32_t> next(static_cast<std::size_t>(n) + 1), row_level(static_cast<std::size_t>(n) + 1, absent);
  Array<std::int64_t> start(A.rows + 1);
  for (std::int32_t i = 0; i < n; ++i) {
    start[i] = static_cast<std::int64_t>(column.size());
    const std::int32_t first = A.column[A.start[i]];
    std::int64_t merged_entries = A.start[i + 1] - A.start[i], operations = 0;
    for (auto p = A.start[i]; p < A.start[i + 1]; ++p) {
      next[static_cast<std::size_t>(A.column[p])] = p + 1 < A.start[i + 1] ? A.column[p + 1] : n;
      row_level[static_cast<std::size_t>(A.column[p])] = 0;
    }
    for (std::int32_t k = first; k < i; k = next[static_cast<std::size_t>(k)]) {
      const auto level_ik = row_level[static_cast<std::size_t>(k)];
      const auto length = start[k + 1] - diagonal[static_cast<std::size_t>(k)] - 1;
      operations += length;
      if (level_ik >= fill) continue;
      merged_entries += length;
      if (merged_entries > WorkWatch::operations_a_question) {
        keep_going(merged_entries);
        merged_entries = 0;
      }
      std::int32_t before = k;
      for (auto p = diagonal[static_cast<std::size_t>(k)] + 1; p < start[k + 1]; ++p) {
        const auto j = column[static_cast<std::size_t>(p)];
        const auto merged = std::int64_t{level_ik} + level[static_cast<std::size_t>(p)] + 1;
        if (merged > fill) continue;
        auto& known = row_level[static_cast<std::size_t>(j)];
        if (known == absent) {
          while (next[static_cast<std::size_t>(before)] < j) before = next[static_cast<std::size_t>(before)];
          next[static_cast<std::size_t>(j)] = next[static_cast<std::size_t>(before)];
          next[static_cast<std::size_t>(before)] = j;
        }
        known = std::min(known, static_cast<std::int32_t>(merged));
        before = j;
      }
    }
    for (std::int32_t k = first; k != n; k = next[static_cast<std::size_t>(k)]) {
      if (k == i) diagonal[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(column.size());
      if (column.size() == column.capacity()) require_room(column, fill);
      column.push_back(k);
      level.push_back(row_level[static_cast<std::size_t>(k)]);
      row_level[static_cast<std::size_t>(k)] = absent;
    }
    start[i + 1] = static_cast<std::int64_t>(column.size());
    keep_going(merged_entries + start[i + 1] - start[i]);
    budget.spend(operations);
  }
  if (n == 0) start[0] = 0;
  return {std::move(start), Array<std::int32_t>(std::span<const std::int32_t>(column))};
}

std::int64_t elimination_operations(const TrianglePattern& lower, const TrianglePattern& upper) {
  std::int64_t operations = 0;
  with_distances(lower, [&](const auto* distance) {
    for (std::int64_t i = 0; i < lower.rows; ++i) {
      for (auto p = lower.start[i]; p < lower.start[i + 1]; ++p) {
        const auto place = upper.rows - 1 - (i - distance[p]);
        operations += upper.start[place + 1] - upper.start[place];
      }
    }
  });
  return operations;
}

namespace {

/// Fewer rows are cut faster than threads wake.
constexpr std::int64_t rows_worth_threads = 50'000;

template <class Distance>
void write_distances(const PatternView& A, Distance* lower, const TrianglePattern& L, Distance* upper,
                     const TrianglePattern& U) {
  const auto n = A.rows;
  const int team = n >= rows_worth_threads ? threads() : 1;
#pragma omp parallel for num_threads(team) if (team > 1)
  for (std::int64_t i = 0; i < n; ++i) {
    const auto* column = A.column + A.start[i];
    const auto below = L.start[i + 1] - L.start[i];
    auto* to = lower + L.start[i];
    for (std::int64_t p = 0; p < below; ++p) to[p] = static_cast<Distance>(i - column[p]);
    column += below + 1;
    const auto above = U.start[n - i] - U.start[n - 1 - i];
    to = upper + U.start[n - 1 - i];
    for (std::int64_t p = 0; p < above; ++p) to[p] = static_cast<Distance>(column[p] - i);
  }
}

}  // namespace

bool split(const PatternView& A, bool narrow_allowed, TrianglePattern& lower, TrianglePattern& upper) {
  const auto n = A.rows;
  lower.rows = upper.rows = n;
  lower.start = Array<std::int64_t>(n + 1);
  upper.start = Array<std::int64_t>(n + 1);
  std::int64_t widest = 0;
  bool complete = true;
  lower.start[0] = upper.start[0] = 0;
  auto* below = lower.start.data();
  auto* above = upper.start.data();
  const int team = n >= rows_worth_threads ? threads() : 1;
#pragma omp parallel for num_threads(team) if (team > 1) reduction(max : widest) reduction(&& : complete)
  for (std::int64_t i = 0; i < n; ++i) {
    const auto begin = A.start[i], end = A.start[i + 1];
    auto p = begin;
    while (p < end && A.column[p] < i) ++p;
    if (p == end || A.column[p] != i) {
      complete = false;
      continue;
    }
    below[i + 1] = p - begin;
    above[n - i] = end - p - 1;
    widest = std::max({widest, i - A.column[begin], A.column[end - 1] - i});
  }
  if (!complete) return false;
  for (std::int64_t i = 0; i < n; ++i) below[i + 1] += below[i];
  for (std::int64_t s = 0; s < n; ++s) upper.start[s + 1] += upper.start[s];
  lower.narrow = upper.narrow = narrow_allowed && widest <= std::numeric_limits<std::uint16_t>::max();
  if (lower.narrow) {
    lower.distance_16 = Array<std::uint16_t>(lower.entries());
    upper.distance_16 = Array<std::uint16_t>(upper.entries());
    write_distances(A, lower.distance_16.data(), lower, upper.distance_16.data(), upper);
  } else {
    lower.distance = Array<std::int32_t>(lower.entries());
    upper.distance = Array<std::int32_t>(upper.entries());
    write_distances(A, lower.distance.data(), lower, upper.distance.data(), upper);
  }
  return true;
}

std::int64_t first_difference(const PatternView& A, const PatternView& B) {
  for (std::int64_t i = 0; i < A.rows; ++i) {
    if (A.start[i + 1] != B.start[i + 1] ||
        !std::equal(A.column + A.start[i], A.column + A.start[i + 1], B.column + B.start[i])) {
      return i;
    }
  }
  return -1;
}

namespace {

template <class Distance>
bool row_is(const PatternView& A, std::int64_t i, std::span<const Distance> below, std::span<const Distance> above) {
  const auto* column = A.column + A.start[i];
  if (A.start[i + 1] - A.start[i] != static_cast<std::int64_t>(below.size() + 1 + above.size())) return false;
  for (const auto d : below) {
    if (*column++ != i - d) return false;
  }
  if (*column++ != i) return false;
  for (const auto d : above) {
    if (*column++ != i + d) return false;
  }
  return true;
}

template <class Distance>
std::int64_t first_difference(const PatternView& A, const TrianglePattern& lower, const Distance* below,
                              const TrianglePattern& upper, const Distance* above) {
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const auto s = A.rows - 1 - i;
    const std::span<const Distance> left(below + lower.start[i], below + lower.start[i + 1]);
    const std::span<const Distance> right(above + upper.start[s], above + upper.start[s + 1]);
    if (!row_is(A, i, left, right)) return i;
  }
  return -1;
}

}  // namespace

std::int64_t first_difference(const PatternView& A, const TrianglePattern& lower, const TrianglePattern& upper) {
  return lower.narrow ? first_difference(A, lower, lower.distance_16.data(), upper, upper.distance_16.data())
                      : first_difference(A, lower, lower.distance.data(), upper, upper.distance.data());
}

}  // namespace echelon
