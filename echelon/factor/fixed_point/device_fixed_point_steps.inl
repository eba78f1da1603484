// SPDX-License-Identifier: BSD-3-Clause
// What the threads of device_fixed_point_view.hpp do, each by itself: no barriers, no shared memory. `Place` runs them: a
// GPU (device_fixed_point_cuda.cu), or a loop on the host that tests hold against the host's own sweeps. It has
//   each(device, n, body, what)  body(t) for all t < n, in any order;   Log  a log of pivots made from the status;
//   raise(size of the status, value)  keeps the largest;   set(flag).
// Bytes of a sweep of scalars, an entry: 8 of A, 8 last, 8 next, 4 + 4 of the pattern, and the rows of U it meets, which
// neighbours share; where only the diagonal changes 20 an entry of L and 40 a row.
#pragma once

#include "echelon/factor/fixed_point/device_pivot_steps.inl"
#include "echelon/factor/fixed_point/fixed_point_row.inl"
#include "echelon/factor/fixed_point/swept_entry.inl"

namespace echelon::fixed_point_steps {

constexpr std::int64_t lanes_a_row = 8;

struct FindRows {
  SweptPattern S;
  std::int32_t *lower_row, *upper_row;
  ECHELON_FN void operator()(std::int64_t t) const {
    const std::int64_t s = t / lanes_a_row, lane = t % lanes_a_row;
    const auto down = static_cast<std::int32_t>(s), up = static_cast<std::int32_t>(S.rows - 1 - s);
    for (std::int64_t p = S.lower_start[s] + lane; p < S.lower_start[s + 1]; p += lanes_a_row) lower_row[p] = down;
    for (std::int64_t p = S.upper_start[s] + lane; p < S.upper_start[s + 1]; p += lanes_a_row) upper_row[p] = up;
  }
};

/// A thread an entry beside the diagonal.
template <class Place>
struct LookForChanges {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t t) const {
    const SweptPattern& S = v.pattern;
    const SweptPlace place = swept_place(S, t < S.lower_entries ? t : t + S.rows);
    const bool lower = place.part == SweptPart::lower;
    bool met = (lower ? upper_place(S, place.j, place.i) : lower_place(S, place.j, place.i)) < 0;
    for_products(S, place.i, place.j, [&](std::int64_t, std::int64_t, std::int64_t) {
      met = true;
      return false;
    });
    if (met) Place::set(v.found);
  }
};

/// Where A has (i, j) of the elimination's order; −1 when nowhere. Without order and fill the rows are A's own.
ECHELON_FN std::int64_t place_in_matrix(const DeviceFixedPointView& v, const SweptPlace& place) {
  const std::int64_t row = user_row(v, place.i), begin = v.A.row_start[row], end = v.A.row_start[row + 1];
  if (v.order) {
    for (std::int64_t p = begin; p < end; ++p) {
      if (v.position[v.A.column[p]] == place.j) return p;
    }
    return -1;
  }
  if (v.grown) {
    const std::int64_t p = first_not_below(v.A.column, begin, end, place.j);
    return p < end && v.A.column[p] == place.j ? p : -1;
  }
  const std::int64_t lower = v.pattern.lower_start[place.i];
  if (place.part == SweptPart::lower) return begin + place.at - lower;
  const std::int64_t diagonal = begin + v.pattern.lower_start[place.i + 1] - lower;
  if (place.part == SweptPart::diagonal) return diagonal;
  return diagonal + 1 + place.at - v.pattern.upper_start[v.pattern.rows - 1 - place.i];
}

/// A thread a scalar.
struct PlaceGiven {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t t) const {
    const std::int64_t bb = std::int64_t{v.A.block} * v.A.block, e = bb == 1 ? t : t / bb, scalar = t - e * bb;
    const SweptPlace place = swept_place(v.pattern, e);
    const std::int64_t from = place_in_matrix(v, place);
    swept_value(v.given, place, bb)[scalar] = from < 0 ? 0.0 : v.A.values[from * bb + scalar];
  }
};

/// A thread a row.
template <class Place>
struct ShiftGiven {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t i) const {
    const int b = v.A.block;
    PivotWorkspace<double> work;
    for (int c = 0; c < b; ++c) {
      double& a = v.given.diagonal[(i * b + c) * b + c];
      a = shifted(v.rules, a, v.known.scale[user_row(v, i)], work);
    }
    if (work.change > 0) Place::raise(&v.status->change, work.change);
  }
};

/// L = S D⁻¹ of the last iterate; a thread a column of a block.
template <int B>
struct ScaleLower {
  DeviceFixedPointView v;
  double* to;
  ECHELON_FN void operator()(std::int64_t t) const {
    const int b = extent<B>(v.A.block);
    const std::int64_t p = t / b, bb = std::int64_t{b} * b, c = t - p * b;
    const std::int64_t k = v.pattern.lower_row[p] - v.pattern.lower_distance[p];
    product<B>(b, v.last.lower + p * bb, v.last.diagonal + k * bb + c * b, to + p * bb + c * b);
  }
};

/// A thread a column of a block. The diagonal goes to `met`.
template <int B>
struct SweepEntries {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t t) const {
    const int b = extent<B>(v.A.block);
    const std::int64_t e = B == 1 ? t : t / b, bb = std::int64_t{b} * b, c = t - e * b;
    const SweptPlace place = swept_place(v.pattern, e);
    const double* given = swept_value(v.given, place, bb) + c * b;
    SweptValues next = v.next;
    next.diagonal = v.met;
    double* to = swept_value(next, place, bb) + c * b;
    if constexpr (B == 1) {
      *to = swept_scalar(v.pattern, v.last, place.i, place.j, *given);
    } else {
      double fixed[B > 0 ? B : 1];
      double* y = B > 0 ? fixed : to;
      for (int r = 0; r < b; ++r) y[r] = given[r];
      for_products(v.pattern, place.i, place.j, [&](std::int64_t p, std::int64_t, std::int64_t q) {
        subtract_product<B>(b, v.scaled + p * bb, v.last.upper + q * bb + c * b, y);
        return true;
      });
      for (int r = 0; r < b; ++r) to[r] = y[r];
    }
  }
};

/// A thread an entry of L.
struct MirrorEntries {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t p) const {
    const std::int64_t i = v.pattern.lower_row[p];
    v.mirror[p] = v.given.upper[upper_place(v.pattern, i - v.pattern.lower_distance[p], i)];
  }
};

/// A thread a row: d_i ← a_ii − Σ_k (a_ik d_k⁻¹) a_ki.
template <class Place>
struct SweepDiagonal {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t i) const {
    const std::int64_t end = v.pattern.lower_start[i + 1];
    double pivot = v.given.diagonal[i];
    for (std::int64_t p = v.pattern.lower_start[i]; p < end; ++p) {
      const double l = v.given.lower[p] * v.last.diagonal[i - v.pattern.lower_distance[p]];
      pivot = fma(-l, v.mirror[p], pivot);
    }
    // Other entries add nothing: one that is not finite makes a pivot so.
    if (v.measures) v.row_sums[i] = fixed_point_square(pivot - 1.0 / v.last.diagonal[i], v.unit, 0);
    v.next.diagonal[i] = 1.0 / used_pivot<Place>(v, i, pivot);
  }
};

/// The host's order: along L, along U, the diagonal. Scalars: a thread a row; blocks: workers in turn.
template <int B>
struct SumRows {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t t) const {
    BlockRoom<B> room;
    const std::int64_t step = B == 1 ? v.pattern.rows : v.workers;
    for (std::int64_t i = t; i < v.pattern.rows; i += step) sum_row(i, room.values(v, t), room.swaps(v, t));
  }
  ECHELON_FN void sum_row(std::int64_t i, double* old, int* swaps) const {
    const int b = extent<B>(v.A.block);
    const std::int64_t bb = std::int64_t{b} * b, s = v.pattern.rows - 1 - i;
    double sum = along(v.next.lower, v.last.lower, v.pattern.lower_start[i] * bb, v.pattern.lower_start[i + 1] * bb, 0);
    sum = along(v.next.upper, v.last.upper, v.pattern.upper_start[s] * bb, v.pattern.upper_start[s + 1] * bb, sum);
    if (!v.last.diagonal) {
      sum = along(v.met, nullptr, i * bb, (i + 1) * bb, sum);
    } else if (b == 1) {
      sum = fixed_point_square(v.met[i] - 1.0 / v.last.diagonal[i], v.unit, sum);
    } else {
      for (int e = 0; e < bb; ++e) old[e] = v.last.diagonal[i * bb + e];
      static_cast<void>(invert<B>(b, old, swaps));
      for (int e = 0; e < bb; ++e) sum = fixed_point_square(v.met[i * bb + e] - old[e], v.unit, sum);
    }
    v.row_sums[i] = sum;
  }
  ECHELON_FN double along(const double* next, const double* last, std::int64_t begin, std::int64_t end, double sum) const {
    for (std::int64_t e = begin; e < end; ++e) sum = fixed_point_square(last ? next[e] - last[e] : next[e], v.unit, sum);
    return sum;
  }
};

/// A thread a part.
struct SumParts {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t part) const {
    const std::int64_t begin = part * fixed_point_part_rows, next = begin + fixed_point_part_rows;
    const std::int64_t end = next < v.pattern.rows ? next : v.pattern.rows;
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += v.row_sums[i];
    v.part_sums[part] = sum;
  }
};

/// Scalars: L ← S D⁻¹ and what bounds the inverse; a thread a row.
template <class Place>
struct FinishScalars {
  DeviceFixedPointView v;
  ECHELON_FN void operator()(std::int64_t i) const {
    const std::int64_t s = v.pattern.rows - 1 - i;
    FactorBounds bounds;
    double below = 0, above = 0;
    for (std::int64_t p = v.pattern.lower_start[i]; p < v.pattern.lower_start[i + 1]; ++p) {
      const double l = v.last.lower[p] * v.last.diagonal[i - v.pattern.lower_distance[p]];
      v.next.lower[p] = l;
      below += magnitude(l);
    }
    for (std::int64_t p = v.pattern.upper_start[s]; p < v.pattern.upper_start[s + 1]; ++p) {
      above += magnitude(v.last.upper[p]);
    }
    bounds.include(below, above, v.last.diagonal[i]);
    if (!bounds.finite) {
      Place::set(reinterpret_cast<int*>(&v.status->not_bounded));
      return;
    }
    Place::raise(&v.status->lower, bounds.lower);
    Place::raise(&v.status->upper, bounds.upper);
    Place::raise(&v.status->inverse, bounds.inverse);
  }
};

/// Calls run<B>() for the block size.
template <class Run>
void with_block(int block, const Run& run) {
  switch (block) {
    case 1: return run.template operator()<1>();
    case 2: return run.template operator()<2>();
    case 3: return run.template operator()<3>();
    case 4: return run.template operator()<4>();
    case 5: return run.template operator()<5>();
    case 6: return run.template operator()<6>();
    case 7: return run.template operator()<7>();
    case 8: return run.template operator()<8>();
    default: return run.template operator()<0>();
  }
}

template <class Place>
void find_rows(int device, const SweptPattern& S, std::int32_t* lower_row, std::int32_t* upper_row) {
  Place::each(device, S.rows * lanes_a_row, FindRows{S, lower_row, upper_row}, "rows of entries");
}

template <class Place>
void look_for_changes(int device, const DeviceFixedPointView& v) {
  Place::each(device, v.pattern.lower_entries + v.pattern.upper_entries, LookForChanges<Place>{v}, "entries that change");
}

template <class Place>
void place(int device, const DeviceFixedPointView& v) {
  const std::int64_t bb = std::int64_t{v.A.block} * v.A.block;
  Place::each(device, swept_entries(v.pattern) * bb, PlaceGiven{v}, "A on the pattern");
  if (v.rules.shift > 0) Place::each(device, v.pattern.rows, ShiftGiven<Place>{v}, "shift of the diagonal");
}

template <class Place>
void pivots(int device, const DeviceFixedPointView& v) {
  with_block(v.A.block, [&]<int B>() {
    Place::each(device, B == 1 ? v.pattern.rows : v.workers, InvertPivots<B, Place>{v}, "pivots of a sweep");
  });
}

template <class Place>
void sweep(int device, const DeviceFixedPointView& v) {
  with_block(v.A.block, [&]<int B>() {
    if constexpr (B != 1) {
      Place::each(device, v.pattern.lower_entries * v.A.block, ScaleLower<B>{v, v.scaled}, "L of a sweep");
    }
    Place::each(device, swept_entries(v.pattern) * v.A.block, SweepEntries<B>{v}, "fixed-point sweep");
  });
}

template <class Place>
void mirror(int device, const DeviceFixedPointView& v) {
  Place::each(device, v.pattern.lower_entries, MirrorEntries{v}, "U by the places of L");
}

template <class Place>
void sweep_diagonal(int device, const DeviceFixedPointView& v) {
  Place::each(device, v.pattern.rows, SweepDiagonal<Place>{v}, "fixed-point sweep of the diagonal");
}

template <class Place>
void sum_rows(int device, const DeviceFixedPointView& v) {
  with_block(v.A.block,
             [&]<int B>() { Place::each(device, B == 1 ? v.pattern.rows : v.workers, SumRows<B>{v}, "changes of rows"); });
}

template <class Place>
void sum_parts(int device, const DeviceFixedPointView& v) {
  const std::int64_t parts = (v.pattern.rows + fixed_point_part_rows - 1) / fixed_point_part_rows;
  Place::each(device, parts, SumParts{v}, "changes of parts");
}

template <class Place>
void finish(int device, const DeviceFixedPointView& v) {
  with_block(v.A.block, [&]<int B>() {
    if constexpr (B == 1) {
      Place::each(device, v.pattern.rows, FinishScalars<Place>{v}, "L of the factors");
    } else {
      Place::each(device, v.pattern.lower_entries * v.A.block, ScaleLower<B>{v, v.next.lower}, "L of the factors");
    }
  });
}

template <class Place>
DeviceFixedPointKernels table() {
  return {find_rows<Place>, look_for_changes<Place>, place<Place>,    pivots<Place>,    sweep<Place>,
          mirror<Place>,    sweep_diagonal<Place>,   sum_rows<Place>, sum_parts<Place>, finish<Place>};
}

}  // namespace echelon::fixed_point_steps
