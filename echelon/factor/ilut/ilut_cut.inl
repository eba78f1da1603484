// SPDX-License-Identifier: BSD-3-Clause
// The second threshold: of a triangle's candidates the lfil largest stay, of equal ones those with the smaller columns.
// Kept is what is larger than the lfil-th. That one is looked for by counting what is larger than one of them, in whole
// vectors and without a branch to mispredict: each count narrows where it can be, some ten counts of a hundred find it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>

#include "echelon/factor/ilut/ilut_view.hpp"

namespace echelon {

/// Which triangle's cut.
inline constexpr int of_lower = 0, of_upper = 1;

/// Keeps what is larger than `size`, and of that size what stands not right of `last_column`.
struct SizeCut {
  double size = -1;
  std::int32_t last_column = 0;
  ECHELON_FN bool keeps(double candidate, std::int32_t column) const {
    return (candidate > size) | ((candidate == size) & (column <= last_column));
  }
};

/// `count` sizes, more than lfil > 0 of them: the lfil-th largest, how many are larger and how many equal.
struct Quantile {
  double size;
  std::int64_t larger, equal;
};

/// Filled up to whole vectors with −1.
ECHELON_FN Quantile rank_of(double size, const double* sizes, std::int64_t filled) {
  std::int64_t larger = 0, equal = 0;
  for (std::int64_t f = 0; f < filled; ++f) {
    larger += sizes[f] > size;
    equal += sizes[f] == size;
  }
  return {size, larger, equal};
}

/// Where the size that is looked for must lie, by the counts made so far.
struct Bracket {
  double low = -1, high = std::numeric_limits<double>::infinity();
  /// True when `here` is it.
  ECHELON_FN bool narrow(const Quantile& here, std::int64_t lfil) {
    const bool too_small = here.larger >= lfil, too_large = here.larger + here.equal < lfil;
    low = too_small && here.size > low ? here.size : low;
    high = too_large && here.size < high ? here.size : high;
    return !too_small && !too_large;
  }
};

/// `guess`, the cut of a row before, is where to begin: neighbours are alike. It decides about the time only.
ECHELON_FN Quantile quantile(double* sizes, std::int64_t count, std::int64_t lfil, double& guess, double* copy) {
  constexpr int most_counts = 40;
  constexpr double nearby = 1.25;
  const std::int64_t filled = (count + 7) / 8 * 8;
  for (std::int64_t e = count; e < filled; ++e) sizes[e] = -1;
  Bracket bracket;
  Quantile here = rank_of(guess, sizes, filled);
  if (bracket.narrow(here, lfil)) return here;
  here = rank_of(here.larger >= lfil ? guess * nearby : guess / nearby, sizes, filled);
  bracket.narrow(here, lfil);
  // In leaps, since sizes often fall or rise along the columns.
  const std::int64_t leap = count * 5 / 8;
  std::int64_t at = 0;
  for (int tried = 0, counts = 0; tried < count && counts < most_counts; ++tried) {
    const double size = sizes[at];
    at += at + leap < count ? leap : leap - count;
    if (size <= bracket.low || size >= bracket.high) continue;
    here = rank_of(size, sizes, filled);
    if (bracket.narrow(here, lfil)) {
      guess = size;
      return here;
    }
    ++counts;
  }
  // The leaps met only some, it is infinite, or the order was the worst: by partial sorting.
  std::copy_n(sizes, count, copy);
  std::nth_element(copy, copy + (lfil - 1), copy + count, std::greater<>());
  guess = copy[lfil - 1];
  return rank_of(guess, sizes, filled);
}

/// Of work.sizes and work.columns, `count` candidates; more than lfil of them.
template <class T>
ECHELON_FN SizeCut cut_at(std::int64_t lfil, std::int64_t count, int side, IlutWorkspace<T>& work) {
  if (lfil == 0) return {std::numeric_limits<double>::infinity(), -1};
  double* sizes = work.sizes.data();
  const Quantile at = quantile(sizes, count, lfil, work.last_cut[side], work.cut_sizes.data());
  SizeCut cut{at.size, std::numeric_limits<std::int32_t>::max()};
  if (at.larger + at.equal == lfil) return cut;
  work.cut_columns.clear();
  for (std::int64_t e = 0; e < count; ++e) {
    if (sizes[e] == cut.size) work.cut_columns.push_back(work.columns[e]);
  }
  const auto last = work.cut_columns.begin() + (lfil - at.larger - 1);
  std::nth_element(work.cut_columns.begin(), last, work.cut_columns.end());
  cut.last_column = *last;
  return cut;
}

/// A number that sorts: NaN, which may not be lost, counts as infinite.
ECHELON_FN double sortable(double size) { return size == size ? size : std::numeric_limits<double>::infinity(); }

/// Block 1, columns ascending: of work.columns and work.values the lfil largest stay, in their order; returns how many.
template <class T>
ECHELON_FN std::int64_t keep_largest(std::int64_t lfil, std::int64_t count, int side, IlutWorkspace<T>& work) {
  if (count <= lfil) return count;
  std::int32_t* columns = work.columns.data();
  T* values = work.values.data();
  double* sizes = work.sizes.data();
  for (std::int64_t c = 0; c < count; ++c) sizes[c] = sortable(static_cast<double>(magnitude(values[c])));
  if (lfil == 0) return 0;
  const Quantile cut = quantile(sizes, count, lfil, work.last_cut[side], work.cut_sizes.data());
  std::int64_t kept = 0, equal_left = lfil - cut.larger;  // columns ascend, so the first of equal ones stay
  for (std::int64_t c = 0; c < count; ++c) {
    columns[kept] = columns[c];
    values[kept] = values[c];
    const bool equal = (sizes[c] == cut.size) & (equal_left > 0);
    equal_left -= equal;
    kept += equal | (sizes[c] > cut.size);
  }
  return kept;
}

/// 2ᵏ near 1/x, exact, so that squares neither overflow nor vanish and a matrix times a power of two takes the same way.
ECHELON_FN double power_of_two_near_inverse(double x) {
  constexpr std::int64_t bias = 1023, most = 1000;
  const auto exponent = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - bias;
  const auto bounded = exponent > most ? most : exponent < -most ? -most : exponent;
  return std::bit_cast<double>(static_cast<std::uint64_t>(bias - bounded) << 52);
}

}  // namespace echelon
