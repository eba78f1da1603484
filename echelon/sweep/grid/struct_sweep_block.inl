// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of block stencils, once for each SIMD target: a point's b sums are one vector, lanes over the rows of its block.
// A line at a time, so that every coefficient plane is one stream of memory. Bytes a point: s b² an entry (s bytes stored a
// scalar), s b² for D⁻¹ in U (and in L when it is scaled), 2·8 b for r and x. Reads are safe: entries whose line lies
// outside the grid are dropped before a line begins, entries are asked near a line's ends, and a line's last point, whose
// loads could run over the end of an array, takes copies.
#include "echelon/base/small_block_simd.inl"
#include "echelon/sweep/grid/struct_sweep.hpp"

#if defined(ECHELON_STRUCT_SWEEP_BLOCK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_STRUCT_SWEEP_BLOCK_INL
#undef ECHELON_STRUCT_SWEEP_BLOCK_INL
#else
#define ECHELON_STRUCT_SWEEP_BLOCK_INL
#endif

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

#if ECHELON_BLOCK_LANES

enum class Sweep { lower, scaled_lower, upper };

constexpr LineGroups::Shape block_sweep_shape{1, 8};

template <int B, class S, class T>
struct BlockLine {
  const LineEntry* entries;  // inside the grid but for the ends of the line, in sweep order
  int count;
  const T* r;
  T* x;
  const S* inverse;
  T r_scale;  // used where coefficients are narrow
};

/// y ← y − (A D⁻¹) x, the product formed column by column.
template <int B, class S, class T>
HWY_INLINE void subtract_scaled_product(const S* A, const S* inverse, const T* x, BlockColumn<B, T>& y) {
  using C = BlockColumn<B, T>;
  C columns[B];
#pragma GCC unroll 8
  for (int c = 0; c < B; ++c) columns[c] = load_column<B, T>(A + c * B);
  HWY_ALIGN T widened[sizeof(S) == sizeof(T) ? 1 : block_room<B, T>];
  const T* d;
  if constexpr (sizeof(S) == sizeof(T)) {
    d = inverse;
  } else {
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) store_padded<B, T>(load_column<B, T>(inverse + c * B), widened + c * B);
    d = widened;
  }
#pragma GCC unroll 8
  for (int c = 0; c < B; ++c) {
    C L = scaled_column<B, T>(columns[0], d[c * B]);
#pragma GCC unroll 8
    for (int m = 1; m < B; ++m) add_scaled<B, T>(columns[m], d[c * B + m], L);
    subtract_scaled<B, T>(L, x[c], y);
  }
}

/// Point i of a line; `near_end` when an entry may lie outside the line.
template <Sweep sweep, int B, class S, class T>
HWY_INLINE void sweep_block(const BlockLine<B, S, T>& line, std::int64_t i, std::int64_t nx, bool near_end) {
  using C = BlockColumn<B, T>;
  constexpr int bb = B * B;
  constexpr std::int64_t soon = sweep == Sweep::upper ? -prefetched_ahead : prefetched_ahead;
  HWY_ALIGN S room[block_room<B, T>];
  HWY_ALIGN T sums[C::padded];
  const bool last = C::padded != B && HWY_UNLIKELY(i == nx - 1);
  C sum;
  if (last) {
    std::memcpy(sums, line.r + i * B, B * sizeof(T));
    for (int lane = B; lane < C::padded; ++lane) sums[lane] = 0;
    sum = load_column<B, T>(static_cast<const T*>(sums));
  } else {
    sum = load_column<B, T>(line.r + i * B);
  }
  if constexpr (sweep != Sweep::upper && sizeof(S) < sizeof(T)) sum = scaled_column<B, T>(sum, line.r_scale);
  for (int e = 0; e < line.count; ++e) {
    const LineEntry& entry = line.entries[e];
    if (near_end && (i + entry.shift < 0 || i + entry.shift >= nx)) continue;
    const S* block = static_cast<const S*>(entry.values) + i * bb;
    prefetch_block<B>(block, soon);
    if (last) block = block_copy<B, T>(block, room);
    const T* x = static_cast<const T*>(entry.x) + i * B;
    if constexpr (sweep == Sweep::scaled_lower) {
      // The neighbour is an earlier point, so that there is always something behind its inverse.
      subtract_scaled_product<B, S, T>(block, static_cast<const S*>(entry.inverse) + i * bb, x, sum);
    } else {
      subtract_lanes_product<B, T>(block, x, sum);
    }
  }
  if constexpr (sweep == Sweep::upper) {
    const S* inverse = line.inverse + i * bb;
    prefetch_block<B>(inverse, soon);
    if (last) inverse = block_copy<B, T>(inverse, room);
    store_padded<B, T>(sum, sums);
    sum = lanes_product<B, T>(inverse, static_cast<const T*>(sums));
  }
  store_column<B, T>(sum, line.x + i * B);
}

/// Line j of plane k: its entries that are inside.
template <Sweep sweep, int B, class S, class T>
BlockLine<B, S, T> begin_block_line(const StructTriangle& t, const SweepVectors<T>& v, std::int64_t j, std::int64_t k,
                                    LineEntry* space) {
  constexpr std::int64_t bb = B * B;
  const Grid& g = t.grid;
  const std::int64_t base = (k * g.ny + j) * g.nx;
  const auto* inverse = static_cast<const S*>(t.inverse_diagonal);
  LineEntry* at = space;
  for (const TriangleEntry& e : t.entries) {
    const Offset o = e.offset;
    if (j + o.y < 0 || j + o.y >= g.ny || k + o.z < 0 || k + o.z >= g.nz) continue;
    const std::int64_t moved = ((k + o.z) * g.ny + j + o.y) * g.nx + o.x;
    *at++ = {static_cast<const S*>(e.values) + base * bb, v.x + moved * B,
             sweep == Sweep::scaled_lower ? inverse + moved * bb : nullptr, o.x};
  }
  return {space,
          static_cast<int>(at - space),
          v.r + base * B,
          v.x + base * B,
          sweep == Sweep::upper ? inverse + base * bb : nullptr,
          static_cast<T>(t.r_scale)};
}

template <Sweep sweep, int B, class S, class T>
void sweep_block_lines(const StructTriangle& t, const LineWork& work, const SweepVectors<T>& v, void* scratch) {
  const Grid& g = t.grid;
  std::int64_t left = 0, right = 1;  // the last point of a line is always near its end
  for (const TriangleEntry& e : t.entries) {
    left = std::max<std::int64_t>(left, -e.offset.x);
    right = std::max<std::int64_t>(right, e.offset.x);
  }
  const bool upper = sweep == Sweep::upper;
  const std::int64_t j = upper ? g.ny - 1 - work.line : work.line, k = upper ? g.nz - 1 - work.plane : work.plane;
  const auto line = begin_block_line<sweep, B, S, T>(t, v, j, k, static_cast<LineEntry*>(scratch));
  const std::int64_t end = std::min<std::int64_t>(work.end * block_sweep_shape.width, g.nx);
  for (std::int64_t n = work.begin * block_sweep_shape.width; n < end; ++n) {
    const std::int64_t i = upper ? g.nx - 1 - n : n;
    sweep_block<sweep, B, S, T>(line, i, g.nx, i < left || i + right >= g.nx);
  }
}

template <int B, class S, class T>
StructSweepKernels<T> block_sweep_stored_as() {
  const auto lower = [](const StructTriangle& t, const LineWork& work, const SweepVectors<T>& v, void* scratch) {
    t.scaled ? sweep_block_lines<Sweep::scaled_lower, B, S, T>(t, work, v, scratch)
             : sweep_block_lines<Sweep::lower, B, S, T>(t, work, v, scratch);
  };
  return {lower, &sweep_block_lines<Sweep::upper, B, S, T>, block_sweep_shape};
}

#endif

/// Null where this target has no such kernel.
template <int B, class T>
StructSweepKernels<T> block_sweep([[maybe_unused]] Stored stored) {
#if ECHELON_BLOCK_LANES
  switch (stored) {
    case Stored::fp64:
      if constexpr (sizeof(T) == 8) return block_sweep_stored_as<B, double, T>();
      return {};
    case Stored::fp32: return block_sweep_stored_as<B, float, T>();
    case Stored::bf16: return block_sweep_stored_as<B, hwy::bfloat16_t, T>();
    case Stored::fp16: return block_sweep_stored_as<B, hwy::float16_t, T>();
  }
#endif
  return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
