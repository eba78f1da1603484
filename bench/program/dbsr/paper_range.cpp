// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/dbsr/paper_range.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

std::string range_text(double low, double high) {
  return low == high ? fmt::format("{:.3g}", low) : fmt::format("{:.3g}-{:.3g}", low, high);
}

}  // namespace

std::string paper_table(const std::vector<PaperRange>& ranges) {
  constexpr auto left = Table::Align::left, right = Table::Align::right;
  Table table({{"figure", left}, {"what", left}, {"paper", right}, {"here", right}, {"", left}});
  bool any = false;
  for (const auto& one : ranges) {
    if (one.ours.empty()) continue;
    any = true;
    const auto [least, most] = std::ranges::minmax(one.ours);
    const auto missed =
        std::ranges::count_if(one.ours, [&](double x) { return one.less_is_better ? x > one.high : x < one.low; });
    table.add({one.figure, one.what, range_text(one.low, one.high), range_text(least, most),
               missed == 0 ? "met" : fmt::format("MISSED in {} of {}", missed, one.ours.size())});
  }
  return any ? "\nThe paper's claims beside this run:\n" + table.text() : "";
}

}  // namespace echelon::cli
