// SPDX-License-Identifier: BSD-3-Clause
// What the factorizations of block CSR on a GPU share: the row in a warp's hands, waiting for rows before it, and what is
// done about bad pivots. The latter is cold and takes its arguments by value: an address would keep a warp's whole state in
// memory.
#pragma once

#include "echelon/factor/blocks_gpu/attempt.cuh"
#include "echelon/factor/rows_gpu/row_factor_view.hpp"

namespace echelon {

/// Whose pivot is judged.
struct RowPivot {
  PivotPlace place;
  double scale;
  bool nonfinite;  // the row of A holds NaN or Inf
};

static __device__ __noinline__ void note_nonfinite_row(FactorStatus* status, PivotPlace place) {
  DevicePivotLog log{status};
  repair::note_nonfinite_row(log, place);
}

__device__ __forceinline__ PivotRules rules_of(const RowFactorView& v) {
  PivotRules rules = v.rows.rules;
  rules.zero_row_scale = v.status->zero_row_scale;
  return rules;
}

/// What is used instead of a bad scalar.
static __device__ __noinline__ JudgedPivot<double> judge_pivot(const RowFactorView& v, RowPivot about, double pivot) {
  PivotWorkspace<double> work;
  work.row_nonfinite = about.nonfinite;
  DevicePivotLog log{v.status};
  const double used = repair::pivot(rules_of(v), log, about.place, pivot, about.scale, work);
  return {used, work.change};
}

/// The diagonal of a scalar row that begins, shifted; `change` is the largest of the diagonals so far.
__device__ __forceinline__ void open_scalar_diagonal(const RowFactorView& v, const RowPivot& about, double& w,
                                                     double& change) {
  if (about.nonfinite) note_nonfinite_row(v.status, about.place);
  if (v.rows.rules.shift > 0) {
    PivotWorkspace<double> work;
    work.change = change;
    w = shifted(v.rows.rules, w, about.scale, work);
    change = work.change;
  }
}

/// The inverse of what is used instead of a bad scalar. Apart from the division of a good one, which then need not wait for
/// the verdict.
static __device__ __noinline__ JudgedPivot<double> judge_inverse(const RowFactorView& v, RowPivot about, double pivot) {
  const JudgedPivot<double> judged = judge_pivot(v, about, pivot);
  return {1.0 / judged.used, judged.change};
}

/// One lane judges a block that may be bad: the room holds its inverse, a block to try, itself, and the swaps. Returns the
/// change of the diagonal.
static __device__ __noinline__ double judge_block(const RowFactorView& v, RowPivot about, double* room, double smallest) {
  const int b = v.rows.A.block;
  PivotWorkspace<double> work;
  work.small = room + b * b;
  work.swaps = reinterpret_cast<int*>(room + 3 * b * b);
  work.row_nonfinite = about.nonfinite;
  DevicePivotLog log{v.status};
  repair::block_pivot(rules_of(v), log, about.place, b, room, smallest, about.scale, work);
  return work.change;
}

/// Of the diagonal. Most find out without an atomic that theirs is not the largest.
__device__ __forceinline__ void note_change(FactorStatus* status, double change) {
  const volatile unsigned long long& seen = status->change;
  if (change > __longlong_as_double(static_cast<long long>(seen))) raise(&status->change, change);
}

/// Whether a lane's row waits in vain, since `begun` or, where that is 0, from now on, or others have given up. All lanes.
template <class Lane>
__device__ __forceinline__ bool waits_in_vain(const RowFactorView& v, const Lane& lane, unsigned long long& begun) {
  if (begun == 0) begun = device::nanoseconds();
  const bool late = device::nanoseconds() - begun > static_cast<unsigned long long>(v.patience);
  const std::int32_t other = lane.waits_for();
  if (late && other >= 0 && atomicCAS(&v.status->stuck_tile, 0, lane.number() + 1) == 0) v.status->stuck_level = other;
  return __any_sync(~0u, late || *static_cast<volatile int*>(&v.status->stuck_tile) != 0);
}

/// The row that a warp works on: w and its columns, the lower part first, then the diagonal, then the upper part.
struct RowInHand {
  double* w = nullptr;
  std::int32_t* column = nullptr;
  std::int64_t i = 0, user = 0, lower = 0, upper = 0;
  int below = 0, above = 0, count = 0;

  /// The entry of a column, among those from `least` on; −1 when the row has none.
  __device__ int find(std::int32_t wanted, int least) const {
    int low = least, high = count;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (column[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < count && column[low] == wanted ? low : -1;
  }
};

/// Up to 32 lower entries, a lane each: row k of U.
struct RowsBefore {
  std::int32_t k = 0, user = 0;
  std::int64_t begin = 0;
  int entries = 0;

  __device__ RowsBefore(const RowFactorView& v, const RowInHand& row, int base) {
    const int lane = threadIdx.x % 32;
    if (base + lane >= row.below) return;
    const std::int64_t last = v.rows.A.block_rows - 1;
    k = row.column[base + lane];
    begin = v.rows.upper_start[last - k];
    entries = static_cast<int>(v.rows.upper_start[last - k + 1] - begin);
    user = v.rows.order ? v.rows.order[k] : k;
  }

  /// All lanes: until `has_come`, asked of all lanes at once, says that lane t's row is there; false when everything stops.
  template <class HasCome>
  __device__ bool wait(const RowFactorView& v, std::int64_t i, int t, const HasCome& has_come) const {
    unsigned long long begun = 0;
    for (unsigned looks = 1; !has_come(); ++looks) {
      if (looks % spins_between_looks != 0) continue;
      if (begun == 0) begun = device::nanoseconds();
      const bool late = device::nanoseconds() - begun > static_cast<unsigned long long>(v.patience);
      if (late && threadIdx.x % 32 == t && atomicCAS(&v.status->stuck_tile, 0, static_cast<int>(i) + 1) == 0) {
        v.status->stuck_level = k;
      }
      if (__any_sync(~0u, late || *static_cast<volatile int*>(&v.status->stuck_tile) != 0)) return false;
    }
    __syncwarp();
    return true;
  }
};

}  // namespace echelon
