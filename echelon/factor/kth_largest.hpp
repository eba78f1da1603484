// SPDX-License-Identifier: BSD-3-Clause
// The k-th largest of many non-negative numbers, exactly, by the digits of their bits from the front: a histogram a digit,
// the numbers visited once for each and stored nowhere. Bits of non-negative doubles are ordered as the numbers are.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "echelon/base/threads.hpp"

namespace echelon {

/// The least number that stays when the largest `limit` are wanted; equal ones go or stay together, whichever is nearer to
/// the limit. `numbers(part, visit)` calls visit(number) for those of a part, in any order, the same each time. Infinite
/// when nothing stays; never zero: what is zero goes. NaN counts as infinite.
template <class Numbers>
double selection_threshold(std::int64_t parts, std::int64_t limit, const Numbers& numbers) {
  constexpr int digit_bits = 11, digits = 6;  // 66 bits: the first digit has 9 of them
  constexpr std::size_t values = std::size_t{1} << digit_bits;
  constexpr double least = std::numeric_limits<double>::denorm_min();
  using Histogram = std::array<std::int64_t, values>;
  const int team = static_cast<int>(parts < threads() ? (parts > 0 ? parts : 1) : threads());
  std::vector<Histogram> own(static_cast<std::size_t>(team));
  std::uint64_t prefix = 0;
  std::int64_t above = 0, equal = 0;  // how many are larger than what has this prefix, and how many have it
  for (int digit = 0; digit < digits; ++digit) {
    const int shift = digit_bits * (digits - 1 - digit);
    for (auto& one : own) one.fill(0);
#pragma omp parallel for num_threads(team) if (team > 1) schedule(static, 1)
    for (int t = 0; t < team; ++t) {
      auto& count = own[static_cast<std::size_t>(t)];
      const auto [begin, end] = share(parts, t, team);
      const auto visit = [&](double number) {
        const auto bits = std::bit_cast<std::uint64_t>(number == number ? number : std::numeric_limits<double>::infinity());
        const bool same = digit == 0 || (bits >> (shift + digit_bits)) == prefix;
        if (same) ++count[static_cast<std::size_t>((bits >> shift) & (values - 1))];
      };
      for (auto part = begin; part < end; ++part) numbers(part, visit);
    }
    Histogram all{};
    std::int64_t total = 0;
    for (const auto& one : own) {
      for (std::size_t v = 0; v < values; ++v) all[v] += one[v], total += one[v];
    }
    if (digit == 0 && total <= limit) return least;
    if (limit <= 0) return std::numeric_limits<double>::infinity();
    std::size_t at = values;
    do {
      --at;
      equal = all[at];
      above += equal;
    } while (at > 0 && above < limit);
    above -= equal;
    prefix = (prefix << digit_bits) | at;
  }
  const double kth = std::bit_cast<double>(prefix);
  const bool with_ties = prefix > 0 && above + equal - limit <= limit - above;
  return with_ties ? kth : std::bit_cast<double>(prefix + 1);
}

}  // namespace echelon
