// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/grid_gpu/entry_lists.hpp"

#include <algorithm>
#include <numeric>

namespace echelon {
namespace {

/// Lower entries one after the other before an entry can be finished.
std::vector<int> depths(const EliminationPlan& plan) {
  std::vector<int> depth(plan.offsets.size(), 0);
  for (std::size_t t = 0; t < depth.size(); ++t) {
    for (const auto [m, u] : plan.pairs(static_cast<int>(t)))
      depth[t] = std::max(depth[t], depth[static_cast<std::size_t>(m)] + 1);
  }
  return depth;
}

std::vector<RowItem> items_of(const EliminationPlan& plan, int t) {
  const auto entry = [](int e) { return static_cast<std::int16_t>(e); };
  std::vector<RowItem> items{{RowItem::begin, entry(t), -1, entry(t)}};
  for (const auto [m, u] : plan.pairs(t)) items.push_back({RowItem::subtract, entry(t), entry(m), entry(u)});
  if (t < plan.center) items.push_back({RowItem::scale, entry(t), entry(t), entry(plan.center)});
  if (t > plan.center && !plan.diagonal_only) items.push_back({RowItem::store, entry(t), -1, -1});
  return items;
}

}  // namespace

RowSchedule schedule_row(const EliminationPlan& plan, int groups) {
  const std::vector<int> depth = depths(plan);
  std::vector<int> order(plan.offsets.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int t) { return depth[static_cast<std::size_t>(t)]; });
  std::vector<std::vector<RowItem>> lists(static_cast<std::size_t>(groups));
  const auto least = [&] { return std::ranges::min_element(lists, {}, &std::vector<RowItem>::size); };
  for (const int t : order) {
    if (t == plan.center) continue;
    const auto items = items_of(plan, t);
    auto& list = *least();
    list.insert(list.end(), items.begin(), items.end());
  }
  RowSchedule schedule;
  const auto last = least();
  schedule.center_group = static_cast<int>(last - lists.begin());
  const auto of_center = items_of(plan, plan.center);
  last->insert(last->end(), of_center.begin(), of_center.end());
  for (const auto& list : lists) {
    schedule.first.push_back(static_cast<int>(schedule.items.size()));
    schedule.items.insert(schedule.items.end(), list.begin(), list.end());
  }
  schedule.first.push_back(static_cast<int>(schedule.items.size()));
  return schedule;
}

}  // namespace echelon
