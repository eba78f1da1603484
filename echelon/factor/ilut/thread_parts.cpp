// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/ilut/thread_parts.hpp"

#include <algorithm>

#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

constexpr std::int64_t rows_worth_threads = 2'000;
constexpr std::int64_t rows_a_part = 16;  // in the mean; with fewer the threads wait for each other all the time
constexpr double fetched_row = 0.25;      // what a row of another thread costs, in rows: its cache lines travel
constexpr double must_win = 1.25;         // times as fast as one thread

class Eliminated {
 public:
  Eliminated(const PatternView& pattern, std::span<const std::int32_t> order, std::span<const std::int32_t> position)
      : pattern_(pattern), order_(order), position_(position) {}
  std::int64_t rows() const { return pattern_.rows; }
  /// visit(k) for the rows k < i that row i needs.
  template <class Visit>
  void needed_by(std::int64_t i, const Visit& visit) const {
    const auto row = order_.empty() ? i : order_[static_cast<std::size_t>(i)];
    for (auto p = pattern_.start[row]; p < pattern_.start[row + 1]; ++p) {
      const std::int64_t column = pattern_.column[p];
      const auto k = position_.empty() ? column : position_[static_cast<std::size_t>(column)];
      if (k < i) visit(k);
    }
  }

 private:
  const PatternView& pattern_;
  std::span<const std::int32_t> order_, position_;
};

/// Starts of the groups, and n: hardly a row from the next start on needs one before this start. Of the rows near where a
/// group could end the one is taken that needs nothing of late (the first of a plane or line), or else the first thread
/// would have to wait for what the last one does last.
std::vector<std::int64_t> cut_groups(const Eliminated& rows) {
  const auto n = rows.rows();
  std::vector<std::int64_t> last(static_cast<std::size_t>(n));  // row that needs a row up to this one
  std::vector<std::int64_t> gap(static_cast<std::size_t>(n));   // to the latest row that is needed
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t first = i, latest = -1;
    rows.needed_by(i, [&](std::int64_t k) {
      first = std::min(first, k);
      latest = std::max(latest, k);
    });
    last[static_cast<std::size_t>(i)] = i;
    last[static_cast<std::size_t>(first)] = i;
    gap[static_cast<std::size_t>(i)] = i - latest;
  }
  for (std::size_t i = 1; i < last.size(); ++i) last[i] = std::max(last[i], last[i - 1]);
  std::vector<std::int64_t> start{0};
  while (start.back() < n) {
    const auto here = start.back();
    const auto end = std::max(last[static_cast<std::size_t>(here > 0 ? here - 1 : 0)], here) + 1;
    const auto around = (end - here) / 4;
    const auto begin = gap.begin() + std::max(end - around, here + 1);
    const auto best = std::max_element(begin, gap.begin() + std::min(end + around, n - 1) + 1);
    start.push_back(end < n && begin < gap.begin() + n ? best - gap.begin() : n);
  }
  return start;
}

RowDeal deal_groups(const std::vector<std::int64_t>& start, int team) {
  RowDeal deal;
  deal.parts.resize(static_cast<std::size_t>(team));
  for (std::size_t group = 0; group + 1 < start.size(); ++group) {
    for (int t = 0; t < team; ++t) {
      const auto [begin, end] = share(start[group + 1] - start[group], t, team);
      if (begin < end) deal.parts[static_cast<std::size_t>(t)].push_back({start[group] + begin, start[group] + end});
    }
  }
  return deal;
}

/// Rows that one thread does while all threads do all of them, fill left aside.
double modelled_time(const Eliminated& rows, const RowDeal& deal) {
  const auto n = static_cast<std::size_t>(rows.rows());
  std::vector<int> owner(n);
  for (int t = 0; t < deal.team(); ++t) {
    for (const auto& part : deal.parts[static_cast<std::size_t>(t)]) {
      std::fill(owner.begin() + part.begin, owner.begin() + part.end, t);
    }
  }
  std::vector<double> clock(static_cast<std::size_t>(deal.team()), 0), finished(n);
  for (std::size_t i = 0; i < n; ++i) {
    double& now = clock[static_cast<std::size_t>(owner[i])];
    rows.needed_by(static_cast<std::int64_t>(i), [&](std::int64_t k) {
      if (owner[static_cast<std::size_t>(k)] == owner[i]) return;
      now = std::max(now, finished[static_cast<std::size_t>(k)]) + fetched_row;
    });
    finished[i] = now += 1;
  }
  return *std::max_element(clock.begin(), clock.end());
}

RowDeal one_thread(std::int64_t rows) { return {{{{0, rows}}}}; }

}  // namespace

RowDeal deal_rows(const PatternView& pattern, std::span<const std::int32_t> order, std::span<const std::int32_t> position,
                  int team) {
  const auto n = pattern.rows;
  if (team < 2 || n < rows_worth_threads) return one_thread(n);
  const Eliminated rows(pattern, order, position);
  const auto start = cut_groups(rows);
  const auto groups = static_cast<std::int64_t>(start.size()) - 1;
  team = static_cast<int>(std::min<std::int64_t>(team, n / (groups * rows_a_part)));
  if (team < 2) return one_thread(n);
  auto deal = deal_groups(start, team);
  return modelled_time(rows, deal) * must_win <= static_cast<double>(n) ? std::move(deal) : one_thread(n);
}

}  // namespace echelon
