// SPDX-License-Identifier: BSD-3-Clause
// The second threshold: of a triangle's candidates the lfil largest stay, of equal ones those with the smaller columns.
// Kept is what is larger than the lfil-th, found by partial sorting of a compact copy.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>

#include "echelon/factor/ilut_view.hpp"

namespace echelon {

/// Keeps what is larger than `size`, and of that size what stands not right of `last_column`.
struct SizeCut {
  double size = -1;
  std::int32_t last_column = 0;
  ECHELON_FN bool keeps(double candidate, std::int32_t column) const {
    return candidate > size || (candidate == size && column <= last_column);
  }
};

/// Up to so many candidates are ranked by comparing each with all, in whole vectors and without a branch to mispredict.
inline constexpr std::int64_t few = 64;

/// `count` sizes, more than lfil > 0 of them: the lfil-th largest, how many are larger and how many equal.
struct Quantile {
  double size;
  std::int64_t larger, equal;
};

ECHELON_FN Quantile quantile_of_few(double* sizes, std::int64_t count, std::int64_t lfil) {
  const std::int64_t padded = (count + 7) / 8 * 8;
  for (std::int64_t e = count; e < padded; ++e) sizes[e] = -1;
  for (std::int64_t e = 0;; ++e) {
    const double size = sizes[e];
    std::int64_t larger = 0, equal = 0;
    for (std::int64_t f = 0; f < padded; ++f) {
      larger += sizes[f] > size;
      equal += sizes[f] == size;
    }
    if (larger < lfil && lfil <= larger + equal) return {size, larger, equal};
  }
}

ECHELON_FN Quantile quantile_of_many(const double* sizes, std::int64_t count, std::int64_t lfil, double* copy) {
  std::copy_n(sizes, count, copy);
  std::nth_element(copy, copy + (lfil - 1), copy + count, std::greater<>());
  Quantile cut{copy[lfil - 1], 0, 0};
  for (std::int64_t e = 0; e < count; ++e) {
    cut.larger += sizes[e] > cut.size;
    cut.equal += sizes[e] == cut.size;
  }
  return cut;
}

/// Of work.sizes and work.columns, `count` candidates; more than lfil of them.
template <class T>
ECHELON_FN SizeCut cut_at(std::int64_t lfil, std::int64_t count, IlutWorkspace<T>& work) {
  if (lfil == 0) return {std::numeric_limits<double>::infinity(), -1};
  double* sizes = work.sizes.data();
  const Quantile at =
      count <= few ? quantile_of_few(sizes, count, lfil) : quantile_of_many(sizes, count, lfil, work.cut_sizes.data());
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

/// 2ᵏ near 1/x, exact, so that squares neither overflow nor vanish and a matrix times a power of two takes the same way.
ECHELON_FN double power_of_two_near_inverse(double x) {
  constexpr std::int64_t bias = 1023, most = 1000;
  const auto exponent = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - bias;
  const auto bounded = exponent > most ? most : exponent < -most ? -most : exponent;
  return std::bit_cast<double>(static_cast<std::uint64_t>(bias - bounded) << 52);
}

}  // namespace echelon
