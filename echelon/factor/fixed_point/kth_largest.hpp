// SPDX-License-Identifier: BSD-3-Clause
// The k-th largest of many non-negative numbers, exactly, by the digits of their bits from the front: a histogram a digit,
// the numbers visited once for each and stored nowhere. Bits of non-negative doubles are ordered as the numbers are.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "echelon/base/device.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"

namespace echelon {

constexpr int selection_digit_bits = 11, selection_digits = 6;  // 66 bits: the first digit has 9 of them
constexpr std::size_t selection_values = std::size_t{1} << selection_digit_bits;
using SelectionCounts = std::array<std::int64_t, selection_values>;

/// The digit at `shift` of a number whose digits before it are `prefix`; −1 for one with others. NaN counts as infinite.
ECHELON_FN int selection_digit(double number, int digit, int shift, std::uint64_t prefix) {
  const double known = number == number ? number : std::numeric_limits<double>::infinity();
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &known, sizeof bits);
  if (digit > 0 && (bits >> (shift + selection_digit_bits)) != prefix) return -1;
  return static_cast<int>((bits >> shift) & (selection_values - 1));
}

/// The least number that stays when the largest `limit` are wanted; equal ones go or stay together, whichever is nearer to
/// the limit. `counts(digit, shift, prefix)` says how many of the numbers have each value of a digit. Infinite when nothing
/// stays; never zero: what is zero goes.
template <class Counts>
double threshold_by_digits(std::int64_t limit, const Counts& counts) {
  constexpr double least = std::numeric_limits<double>::denorm_min();
  std::uint64_t prefix = 0;
  std::int64_t above = 0, equal = 0;  // how many are larger than what has this prefix, and how many have it
  for (int digit = 0; digit < selection_digits; ++digit) {
    const SelectionCounts all = counts(digit, selection_digit_bits * (selection_digits - 1 - digit), prefix);
    std::int64_t total = 0;
    for (const auto one : all) total += one;
    if (digit == 0 && total <= limit) return least;
    if (limit <= 0) return std::numeric_limits<double>::infinity();
    std::size_t at = selection_values;
    do {
      --at;
      equal = all[at];
      above += equal;
    } while (at > 0 && above < limit);
    above -= equal;
    prefix = (prefix << selection_digit_bits) | at;
  }
  const double kth = std::bit_cast<double>(prefix);
  const bool with_ties = prefix > 0 && above + equal - limit <= limit - above;
  return with_ties ? kth : std::bit_cast<double>(prefix + 1);
}

/// The same of numbers that are visited by threads: `numbers(part, visit)` calls visit(number) for those of a part, in any
/// order, the same each time. Asks by how many it visits.
template <class Numbers>
double selection_threshold(std::int64_t parts, std::int64_t limit, const Numbers& numbers) {
  const int team = parts > 1 ? threads() : 1;
  std::vector<SelectionCounts> own(static_cast<std::size_t>(team));
  return threshold_by_digits(limit, [&](int digit, int shift, std::uint64_t prefix) {
    for (auto& one : own) one.fill(0);
    SharedWork shared;
#pragma omp parallel for num_threads(team) if (team > 1) schedule(static, 1)
    for (int t = 0; t < team; ++t) {
      auto& count = own[static_cast<std::size_t>(t)];
      const auto [begin, end] = share(parts, t, team);
      std::int64_t visited = 0;
      const auto visit = [&](double number) {
        ++visited;
        const int value = selection_digit(number, digit, shift, prefix);
        if (value >= 0) ++count[static_cast<std::size_t>(value)];
      };
      for (auto part = begin; part < end && shared.goes_on(std::exchange(visited, 0)); ++part) numbers(part, visit);
    }
    shared.finish();
    SelectionCounts all{};
    for (const auto& one : own) {
      for (std::size_t v = 0; v < selection_values; ++v) all[v] += one[v];
    }
    return all;
  });
}

}  // namespace echelon
