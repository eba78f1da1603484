// SPDX-License-Identifier: BSD-3-Clause
// The pivots of a fixed-point sweep on a GPU: good ones inverted, others replaced by the rules of pivot_repair.hpp, noted
// where the sweep is the last. `Place` is as in device_fixed_point_steps.inl.
#pragma once

#include "echelon/factor/fixed_point/device_fixed_point_view.hpp"
#include "echelon/factor/pivots/pivot_repair.hpp"

namespace echelon::fixed_point_steps {

ECHELON_FN std::int64_t user_row(const DeviceFixedPointView& v, std::int64_t i) { return v.order ? v.order[i] : i; }

/// Notes that go nowhere: of a sweep on the way.
struct NoLog {
  ECHELON_FN void add(std::int64_t, const PivotNote&) const {}
};

/// with(log, workspace) for row i.
template <class Place, class With>
ECHELON_FN void judged(const DeviceFixedPointView& v, std::int64_t i, const With& with) {
  PivotWorkspace<double> work;
  work.row_nonfinite = v.known.nonfinite[user_row(v, i)] != 0;
  PivotRules rules = v.rules;
  rules.zero_row_scale = v.status->zero_row_scale;
  if (v.logs) {
    typename Place::Log log{v.status};
    with(rules, log, work);
    if (work.change > 0) Place::raise(&v.status->change, work.change);
  } else {
    NoLog log;
    with(rules, log, work);
  }
}

ECHELON_FN PivotPlace pivot_place(const DeviceFixedPointView& v, std::int64_t i) {
  return {i, (v.names ? v.names[i] : user_row(v, i)) * v.A.block};
}

template <class Place>
ECHELON_FN void note_row(const DeviceFixedPointView& v, std::int64_t i) {
  if (!v.logs || v.known.nonfinite[user_row(v, i)] == 0) return;
  typename Place::Log log{v.status};
  repair::note_nonfinite_row(log, pivot_place(v, i));
}

/// The pivot, or what takes its place.
template <class Place>
ECHELON_FN double used_pivot(const DeviceFixedPointView& v, std::int64_t i, double pivot) {
  const double scale = v.known.scale[user_row(v, i)];
  note_row<Place>(v, i);
  if (!pivot_is_good(v.rules, pivot, scale)) {
    const double met = pivot;
    judged<Place>(v, i, [&](const PivotRules& rules, auto& log, PivotWorkspace<double>& work) {
      pivot = repair::pivot(rules, log, pivot_place(v, i), met, scale, work);
    });
  }
  return pivot;
}

/// A worker's room: its own where the block size is known.
template <int B>
struct BlockRoom {
  double fixed[B > 0 ? 3 * B* B : 1];
  int fixed_swaps[B > 0 ? B : 1];
  ECHELON_FN double* values(const DeviceFixedPointView& v, std::int64_t worker) {
    return B > 0 ? fixed : v.room + worker * 3 * v.A.block * v.A.block;
  }
  ECHELON_FN int* swaps(const DeviceFixedPointView& v, std::int64_t worker) {
    return B > 0 ? fixed_swaps : v.swaps + worker * v.A.block;
  }
};

/// Scalars: a thread a row; blocks: workers take the rows in turn.
template <int B, class Place>
struct InvertPivots {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t t) const {
    if constexpr (B == 1) {
      v.next.diagonal[t] = 1.0 / used_pivot<Place>(v, t, v.met[t]);
    } else {
      BlockRoom<B> room;
      for (std::int64_t i = t; i < v.pattern.rows; i += v.workers) invert_row(i, room.values(v, t), room.swaps(v, t));
    }
  }
  ECHELON_FN void invert_row(std::int64_t i, double* D, int* swaps) const {
    const int b = extent<B>(v.A.block);
    const std::int64_t bb = std::int64_t{b} * b;
    const double scale = v.known.scale[user_row(v, i)];
    double* const kept = D + 2 * bb;
    note_row<Place>(v, i);
    for (int e = 0; e < bb; ++e) D[e] = kept[e] = v.met[i * bb + e];
    const double smallest = invert<B>(b, D, swaps);
    if (!pivot_is_good(v.rules, smallest, scale) || v.rules.positive) {
      judged<Place>(v, i, [&](const PivotRules& rules, auto& log, PivotWorkspace<double>& work) {
        work.small = D + bb;
        work.swaps = swaps;
        repair::block_pivot(rules, log, pivot_place(v, i), b, D, smallest, scale, work);
      });
    }
    for (int e = 0; e < bb; ++e) v.next.diagonal[i * bb + e] = D[e];
  }
};

}  // namespace echelon::fixed_point_steps
