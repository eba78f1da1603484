// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/row_deal.hpp"

#include <algorithm>

#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

constexpr std::int64_t rows_worth_threads = 2'000;
constexpr std::int64_t rows_a_part = 16;  // fewer, and the threads wait for each other all the time
constexpr std::int64_t least_groups = 8;  // planes or lines: the last thread starts when the others have done one part
constexpr std::int64_t rows_at_random = 20'000;  // without lines or planes: only where there is much to do

class Eliminated {
 public:
  Eliminated(const PatternView& pattern, std::span<const std::int32_t> order, std::span<const std::int32_t> position)
      : pattern_(pattern), order_(order), position_(position) {}
  std::int64_t rows() const { return pattern_.rows; }
  /// Whether row i has an entry in columns [begin, end).
  bool needs(std::int64_t i, std::int64_t begin, std::int64_t end) const {
    const auto row = order_.empty() ? i : order_[static_cast<std::size_t>(i)];
    for (auto p = pattern_.start[row]; p < pattern_.start[row + 1]; ++p) {
      const std::int64_t column = pattern_.column[p];
      const auto j = position_.empty() ? column : position_[static_cast<std::size_t>(column)];
      if (begin <= j && j < end) return true;
    }
    return false;
  }

 private:
  const PatternView& pattern_;
  std::span<const std::int32_t> order_, position_;
};

/// Starts of the lines, and n.
std::vector<std::int64_t> cut_lines(const Eliminated& rows) {
  std::vector<std::int64_t> start{0};
  for (std::int64_t i = rows_a_part; i < rows.rows(); ++i) {
    if (i - start.back() >= rows_a_part && !rows.needs(i, i - 1, i)) start.push_back(i);
  }
  start.push_back(rows.rows());
  return start;
}

/// First lines of the planes, and the number of lines.
std::vector<std::size_t> cut_planes(const Eliminated& rows, const std::vector<std::int64_t>& line_start) {
  std::vector<std::size_t> first{0};
  const auto lines = line_start.size() - 1;
  for (std::size_t line = 1; line < lines; ++line) {
    bool tied = false;
    for (auto i = line_start[line]; i < line_start[line + 1] && !tied; ++i) {
      tied = rows.needs(i, line_start[line - 1], line_start[line]);
    }
    if (!tied) first.push_back(line);
  }
  first.push_back(lines);
  return first;
}

RowDeal one_thread(std::int64_t rows) { return {{{{0, rows}}}}; }

}  // namespace

RowDeal deal_rows(const PatternView& pattern, std::span<const std::int32_t> order, std::span<const std::int32_t> position,
                  int team) {
  const auto n = pattern.rows;
  if (team < 2 || n < rows_worth_threads) return one_thread(n);
  const Eliminated rows(pattern, order, position);
  const auto line_start = cut_lines(rows);
  const auto lines = static_cast<std::int64_t>(line_start.size()) - 1;
  if (lines < least_groups) return one_thread(n);
  const auto planes = cut_planes(rows, line_start);
  const auto plane_count = static_cast<std::int64_t>(planes.size()) - 1;

  RowDeal deal;
  deal.parts.resize(static_cast<std::size_t>(team));
  const auto give = [&](int thread, std::int64_t begin, std::int64_t end) {
    if (begin < end) deal.parts[static_cast<std::size_t>(thread)].push_back({begin, end});
  };
  if (plane_count >= least_groups && lines >= 2 * team * plane_count) {
    for (std::size_t plane = 0; plane + 1 < planes.size(); ++plane) {
      for (int t = 0; t < team; ++t) {
        const auto [first, last] = share(static_cast<std::int64_t>(planes[plane + 1] - planes[plane]), t, team);
        give(t, line_start[planes[plane] + static_cast<std::size_t>(first)],
             line_start[planes[plane] + static_cast<std::size_t>(last)]);
      }
    }
  } else if (n >= rows_a_part * team * lines) {
    for (std::size_t line = 0; line + 1 < line_start.size(); ++line) {
      for (int t = 0; t < team; ++t) {
        const auto [first, last] = share(line_start[line + 1] - line_start[line], t, team);
        give(t, line_start[line] + first, line_start[line] + last);
      }
    }
  } else if (n >= rows_at_random) {
    for (std::size_t line = 0; line + 1 < line_start.size(); ++line) {
      give(static_cast<int>(line % static_cast<std::size_t>(team)), line_start[line], line_start[line + 1]);
    }
  } else {
    return one_thread(n);
  }
  return deal;
}

}  // namespace echelon
