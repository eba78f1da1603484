// SPDX-License-Identifier: BSD-3-Clause
// What the threads of device_threshold_view.hpp do. `Place` is as in device_fixed_point_steps.inl, and has
//   rows(device, n, body, what)  body(group, i) by a few lanes a row: group.least(f) is the least f(lane), which all get,
//                                group.first(f) has one lane do f, PerLane<T> is a variable of each lane;
//   scan(device, x, n)  x_i ← Σ_{k≤i} x_k;   histogram(device, n, digit_of)  how often each digit ≥ 0 comes, waited for.
// Bytes of a sweep, an entry of the larger pattern: 8 written, 4 + 4 of the pattern, A's row and the rows of U it meets,
// which neighbours share. Growth merges the rows of U without writing them: a lane keeps the least column of its lists that
// is still to come.
#pragma once

#include <cmath>
#include <limits>

#include "echelon/factor/fixed_point/device_fixed_point_steps.inl"
#include "echelon/factor/fixed_point/device_threshold_view.hpp"

namespace echelon::threshold_steps {

constexpr std::int32_t no_column = std::numeric_limits<std::int32_t>::max();

/// The columns that row i of the grown pattern has are those of these lists: L, U and A of the row, and U of each k in L.
struct RowLists {
  const DeviceThresholdView& v;
  std::int64_t i;

  ECHELON_FN std::int64_t count() const { return 3 + v.from.lower_start[i + 1] - v.from.lower_start[i]; }
  /// The first of a list that is beyond `column`.
  ECHELON_FN std::int32_t beyond(std::int64_t list, std::int32_t column) const {
    if (list == 0) return beyond_lower(column);
    if (list == 1) return beyond_upper(i, column);
    if (list == 2) {
      const std::int64_t end = v.rows.A.row_start[i + 1];
      const std::int64_t p = first_not_below(v.rows.A.column, v.rows.A.row_start[i], end, std::int64_t{column} + 1);
      return p < end ? v.rows.A.column[p] : no_column;
    }
    return beyond_upper(i - v.from.lower_distance[v.from.lower_start[i] + list - 3], column);
  }

 private:
  ECHELON_FN std::int32_t beyond_lower(std::int32_t column) const {
    const std::int64_t p = first_within(v.from, i, i - column - 1);
    return p < v.from.lower_start[i + 1] ? static_cast<std::int32_t>(i - v.from.lower_distance[p]) : no_column;
  }
  ECHELON_FN std::int32_t beyond_upper(std::int64_t k, std::int32_t column) const {
    const std::int64_t s = v.from.rows - 1 - k, end = v.from.upper_start[s + 1];
    const std::int64_t q = first_not_below(v.from.upper_distance, v.from.upper_start[s], end, column - k + 1);
    return q < end ? static_cast<std::int32_t>(k + v.from.upper_distance[q]) : no_column;
  }
};

/// Of row i, which is row s of U.
ECHELON_FN void write_lengths(const MadePattern& made, std::int64_t i, std::int64_t s, std::int64_t below,
                              std::int64_t above) {
  made.lower_start[i + 1] = below;
  made.upper_start[s + 1] = above;
  if (i == 0) made.lower_start[0] = made.upper_start[0] = 0;
}

template <bool fill>
struct GrowRows {
  DeviceThresholdView v;
  template <class Group>
  ECHELON_FN void operator()(const Group& group, std::int64_t i) const {
    const RowLists lists{v, i};
    const std::int64_t count = lists.count(), s = v.from.rows - 1 - i;
    typename Group::template PerLane<std::int32_t> ahead;
    const auto advance = [&](int lane, std::int32_t column) {
      std::int32_t least = no_column;
      for (std::int64_t list = lane; list < count; list += Group::lanes) {
        const std::int32_t next = lists.beyond(list, column);
        least = next < least ? next : least;
      }
      ahead[lane] = least;
      return least;
    };
    std::int64_t below = fill ? v.made.lower_start[i] : 0, above = fill ? v.made.upper_start[s] : 0;
    std::int32_t column = group.least([&](int lane) { return advance(lane, -1); });
    while (column != no_column) {
      const std::int32_t now = column;
      if (now < i) {
        if constexpr (fill) group.first([&] { v.made.lower_distance[below] = static_cast<std::int32_t>(i - now); });
        ++below;
      } else if (now > i) {
        if constexpr (fill) group.first([&] { v.made.upper_distance[above] = static_cast<std::int32_t>(now - i); });
        ++above;
      }
      column = group.least([&](int lane) { return ahead[lane] == now ? advance(lane, now) : ahead[lane]; });
    }
    if constexpr (!fill) {
      group.first([&] { write_lengths(v.made, i, s, below, above); });
    }
  }
};

/// a_ij; zero where A has none.
ECHELON_FN double given_scalar(const DeviceThresholdView& v, std::int64_t i, std::int64_t j) {
  const BlockCsrView<double>& A = v.rows.A;
  const std::int64_t end = A.row_start[i + 1], p = first_not_below(A.column, A.row_start[i], end, j);
  return p < end && A.column[p] == j ? A.values[p] : 0.0;
}

/// A thread an entry of `to`; the diagonal goes to `met`.
struct SweepTo {
  DeviceThresholdView v;
  ECHELON_FN void operator()(std::int64_t t) const {
    const SweptPlace place = swept_place(v.to, v.upper_only ? t + v.to.lower_entries : t);
    SweptValues next = v.next;
    next.diagonal = v.rows.met;
    *swept_value(next, place, 1) = swept_scalar(v.from, v.last, place.i, place.j, given_scalar(v, place.i, place.j));
  }
};

/// A thread a row. The shift is added to what the sweep gave, as on the host.
template <class Place>
struct PivotsTo {
  DeviceThresholdView v;
  ECHELON_FN void operator()(std::int64_t i) const {
    double met = v.rows.met[i];
    if (v.rows.rules.shift > 0) {
      PivotWorkspace<double> work;
      met = shifted(v.rows.rules, met, v.rows.known.scale[i], work);
      if (v.rows.logs && work.change > 0) Place::raise(&v.rows.status->change, work.change);
      v.rows.met[i] = met;
    }
    const double pivot = fixed_point_steps::used_pivot<Place>(v.rows, i, met);
    v.next_pivots[i] = pivot;
    v.next.diagonal[i] = 1.0 / pivot;
  }
};

/// A thread an entry of L.
struct MirrorTo {
  DeviceThresholdView v;
  ECHELON_FN void operator()(std::int64_t p) const {
    const std::int64_t i = v.to.lower_row[p];
    v.next.lower[p] = v.next.upper[upper_place(v.to, i - v.to.lower_distance[p], i)];
  }
};

/// A thread a row; the host's order, ascending columns.
struct SumTo {
  DeviceThresholdView v;
  ECHELON_FN void operator()(std::int64_t i) const {
    const bool all = !v.last_pivots;
    const std::int64_t s = v.to.rows - 1 - i;
    double sum = 0;
    const auto add = [&](double next, const double* last) {
      if (!last && !all) return;
      const double change = (last ? next - *last : next) * v.rows.unit;
      sum += change * change;
    };
    for (std::int64_t p = v.to.lower_start[i]; p < v.to.lower_start[i + 1]; ++p) {
      const std::int64_t old = lower_place(v.from, i, i - v.to.lower_distance[p]);
      add(v.next.lower[p], old < 0 ? nullptr : v.last.lower + old);
    }
    add(v.rows.met[i], v.last_pivots ? v.last_pivots + i : nullptr);
    for (std::int64_t p = v.to.upper_start[s]; p < v.to.upper_start[s + 1]; ++p) {
      const std::int64_t old = upper_place(v.from, i, i + v.to.upper_distance[p]);
      add(v.next.upper[p], old < 0 ? nullptr : v.last.upper + old);
    }
    v.rows.row_sums[i] = sum;
  }
};

/// |s_ij| |d_min(i,j)|^−½
ECHELON_FN double weight(const DeviceThresholdView& v, double value, std::int64_t least_index) {
  return magnitude(value) * std::sqrt(magnitude(v.next.diagonal[least_index]));
}

/// A thread an entry of a triangle.
struct DigitOf {
  DeviceThresholdView v;
  bool lower;
  int digit, shift;
  std::uint64_t prefix;
  ECHELON_FN int operator()(std::int64_t p) const {
    const std::int64_t least = lower ? v.to.lower_row[p] - v.to.lower_distance[p] : v.to.upper_row[p];
    return selection_digit(weight(v, (lower ? v.next.lower : v.next.upper)[p], least), digit, shift, prefix);
  }
};

/// A thread a row; NaN stays, and is found.
template <bool fill>
struct KeepRows {
  DeviceThresholdView v;
  ECHELON_FN void operator()(std::int64_t i) const {
    const std::int64_t s = v.to.rows - 1 - i;
    std::int64_t below = fill ? v.made.lower_start[i] : 0, above = fill ? v.made.upper_start[s] : 0;
    for (std::int64_t p = v.to.lower_start[i]; p < v.to.lower_start[i + 1]; ++p) {
      const std::int32_t distance = v.to.lower_distance[p];
      if (weight(v, v.next.lower[p], i - distance) < v.lower_threshold) continue;
      if constexpr (fill) {
        v.made.lower_distance[below] = distance;
        v.kept_lower[below] = v.next.lower[p];
      }
      ++below;
    }
    for (std::int64_t p = v.to.upper_start[s]; p < v.to.upper_start[s + 1]; ++p) {
      if (weight(v, v.next.upper[p], i) < v.upper_threshold) continue;
      if constexpr (fill) {
        v.made.upper_distance[above] = v.to.upper_distance[p];
        v.kept_upper[above] = v.next.upper[p];
      }
      ++above;
    }
    if constexpr (!fill) write_lengths(v.made, i, s, below, above);
  }
};

/// A thread a row, which begins after the entries of all rows before it: those of U after row i count from the back.
struct JoinRows {
  SweptPattern S;
  std::int64_t* start;
  std::int32_t* column;
  ECHELON_FN void operator()(std::int64_t i) const {
    const std::int64_t s = S.rows - 1 - i;
    std::int64_t at = S.lower_start[i] + i + S.upper_entries - S.upper_start[s + 1];
    start[i] = at;
    for (std::int64_t p = S.lower_start[i]; p < S.lower_start[i + 1]; ++p) {
      column[at++] = static_cast<std::int32_t>(i - S.lower_distance[p]);
    }
    column[at++] = static_cast<std::int32_t>(i);
    for (std::int64_t p = S.upper_start[s]; p < S.upper_start[s + 1]; ++p) {
      column[at++] = static_cast<std::int32_t>(i + S.upper_distance[p]);
    }
    if (s == 0) start[S.rows] = at;
  }
};

struct Clear {
  std::int64_t* x;
  ECHELON_FN void operator()(std::int64_t t) const { x[t] = 0; }
};

template <class Place>
void clear(int device, std::int64_t* x, std::int64_t n) {
  Place::each(device, n, Clear{x}, "zeros");
}

/// Lengths of rows become starts.
template <class Place>
void starts(int device, const MadePattern& made, std::int64_t rows) {
  for (std::int64_t* start : {made.lower_start, made.upper_start}) Place::scan(device, start + 1, rows);
}

template <class Place>
void count_grown(int device, const DeviceThresholdView& v) {
  Place::rows(device, v.from.rows, GrowRows<false>{v}, "lengths of a grown pattern");
  starts<Place>(device, v.made, v.from.rows);
}

template <class Place>
void fill_grown(int device, const DeviceThresholdView& v) {
  Place::rows(device, v.from.rows, GrowRows<true>{v}, "a grown pattern");
}

template <class Place>
void sweep(int device, const DeviceThresholdView& v) {
  const std::int64_t left_out = v.upper_only ? v.to.lower_entries : 0;
  Place::each(device, swept_entries(v.to) - left_out, SweepTo{v}, "sweep of a round");
  Place::each(device, v.to.rows, PivotsTo<Place>{v}, "pivots of a round");
}

template <class Place>
void mirror(int device, const DeviceThresholdView& v) {
  Place::each(device, v.to.lower_entries, MirrorTo{v}, "L as U's mirror");
}

template <class Place>
void sum(int device, const DeviceThresholdView& v) {
  Place::each(device, v.to.rows, SumTo{v}, "changes of a round");
  DeviceFixedPointView parts = v.rows;
  parts.pattern = v.to;
  fixed_point_steps::sum_parts<Place>(device, parts);
}

template <class Place>
SelectionCounts count_digits(int device, const DeviceThresholdView& v, bool lower, int digit, int shift,
                             std::uint64_t prefix) {
  return Place::histogram(device, lower ? v.to.lower_entries : v.to.upper_entries, DigitOf{v, lower, digit, shift, prefix});
}

template <class Place>
void count_kept(int device, const DeviceThresholdView& v) {
  Place::each(device, v.to.rows, KeepRows<false>{v}, "lengths of what is kept");
  starts<Place>(device, v.made, v.to.rows);
}

template <class Place>
void fill_kept(int device, const DeviceThresholdView& v) {
  Place::each(device, v.to.rows, KeepRows<true>{v}, "what is kept");
}

template <class Place>
void join(int device, const SweptPattern& to, std::int64_t* start, std::int32_t* column) {
  Place::each(device, to.rows, JoinRows{to, start, column}, "rows of a pattern");
}

template <class Place>
DeviceThresholdKernels table() {
  return {clear<Place>, count_grown<Place>,  fill_grown<Place>, sweep<Place>,     mirror<Place>,
          sum<Place>,   count_digits<Place>, count_kept<Place>, fill_kept<Place>, join<Place>};
}

}  // namespace echelon::threshold_steps
