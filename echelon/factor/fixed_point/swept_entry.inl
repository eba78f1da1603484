// SPDX-License-Identifier: BSD-3-Clause
// One entry of a fixed-point sweep, found by searching where the host's rows (fixed_point_row.inl) scatter:
//   a_ij − Σ_{k < min(i,j)} (s_ik d_k⁻¹) s_kj,   k ascending by fma,
// so that every entry can have a thread of its own and the bits are the host's.
#pragma once

#include "echelon/base/small_block.hpp"
#include "echelon/factor/fixed_point/device_fixed_point_view.hpp"

namespace echelon {

/// The first of `distance` from `begin` to `end`, ascending, that is not below `wanted`.
ECHELON_FN std::int64_t first_not_below(const std::int32_t* distance, std::int64_t begin, std::int64_t end,
                                        std::int64_t wanted) {
  while (begin < end) {
    const std::int64_t middle = (begin + end) / 2;
    if (distance[middle] < wanted) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Where (k, j), k < j, is in U; −1 when nowhere.
ECHELON_FN std::int64_t upper_place(const SweptPattern& S, std::int64_t k, std::int64_t j) {
  const std::int64_t position = S.rows - 1 - k, end = S.upper_start[position + 1];
  const std::int64_t q = first_not_below(S.upper_distance, S.upper_start[position], end, j - k);
  return q < end && S.upper_distance[q] == j - k ? q : -1;
}

/// The first of row i of L, whose distances fall, that is at most `wanted` away.
ECHELON_FN std::int64_t first_within(const SweptPattern& S, std::int64_t i, std::int64_t wanted) {
  std::int64_t begin = S.lower_start[i], end = S.lower_start[i + 1];
  while (begin < end) {
    const std::int64_t middle = (begin + end) / 2;
    if (S.lower_distance[middle] > wanted) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Where (i, j), j < i, is in L; −1 when nowhere.
ECHELON_FN std::int64_t lower_place(const SweptPattern& S, std::int64_t i, std::int64_t j) {
  const std::int64_t p = first_within(S, i, i - j);
  return p < S.lower_start[i + 1] && S.lower_distance[p] == i - j ? p : -1;
}

enum class SweptPart { lower, diagonal, upper };

/// Entry number e of all: those of L, the diagonal, those of U.
struct SweptPlace {
  SweptPart part;
  std::int64_t at, i, j;  // `at` counts within its part
};

ECHELON_FN std::int64_t swept_entries(const SweptPattern& S) { return S.lower_entries + S.rows + S.upper_entries; }

ECHELON_FN SweptPlace swept_place(const SweptPattern& S, std::int64_t e) {
  if (e < S.lower_entries) {
    const std::int64_t i = S.lower_row[e];
    return {SweptPart::lower, e, i, i - S.lower_distance[e]};
  }
  e -= S.lower_entries;
  if (e < S.rows) return {SweptPart::diagonal, e, e, e};
  e -= S.rows;
  const std::int64_t i = S.upper_row[e];
  return {SweptPart::upper, e, i, i + S.upper_distance[e]};
}

/// Its values; of an iterate's diagonal the inverse.
ECHELON_FN double* swept_value(const SweptValues& of, const SweptPlace& place, std::int64_t scalars) {
  double* const all = place.part == SweptPart::lower ? of.lower : place.part == SweptPart::upper ? of.upper : of.diagonal;
  return all + place.at * scalars;
}

/// visit(p, k, q) for the products l_ik u_kj, p in L and q in U, k ascending, while it says true.
template <class Visit>
ECHELON_FN void for_products(const SweptPattern& S, std::int64_t i, std::int64_t j, const Visit& visit) {
  const std::int64_t end = S.lower_start[i + 1];
  for (std::int64_t p = S.lower_start[i]; p < end; ++p) {
    const std::int64_t k = i - S.lower_distance[p];
    if (k >= j) return;
    const std::int64_t q = upper_place(S, k, j);
    if (q >= 0 && !visit(p, k, q)) return;
  }
}

/// `a` less the products, scalars.
ECHELON_FN double swept_scalar(const SweptPattern& S, const SweptValues& of, std::int64_t i, std::int64_t j, double a) {
  for_products(S, i, j, [&](std::int64_t p, std::int64_t k, std::int64_t q) {
    const double l = of.lower[p] * of.diagonal[k];
    a = fma(-l, of.upper[q], a);
    return true;
  });
  return a;
}

}  // namespace echelon
