// SPDX-License-Identifier: BSD-3-Clause
// The row mathematics of base/small_block.hpp with lanes over the rows of a block, once for each SIMD target (include it
// inside a foreach_target file, after highway.h). Blocks are column-major, so a column is contiguous: one vector, or
// `parts` of them where vectors are narrower than b. The bits are small_block.hpp's: every scalar is the same chain of fma.
// A column is loaded with `padded` lanes, b of them meant: what lies behind must be readable, else take a block_copy first.
#include <hwy/highway.h>

#if defined(ECHELON_BASE_SMALL_BLOCK_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_BASE_SMALL_BLOCK_SIMD_INL
#undef ECHELON_BASE_SMALL_BLOCK_SIMD_INL
#else
#define ECHELON_BASE_SMALL_BLOCK_SIMD_INL
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "echelon/base/simd.inl"
#include "echelon/base/small_block.hpp"

// Without fused multiply-add there are no equal bits, and vectors of unknown length cannot be kept in arrays: such targets
// run the point kernels.
#undef ECHELON_BLOCK_LANES
#define ECHELON_BLOCK_LANES (HWY_NATIVE_FMA && !HWY_HAVE_SCALABLE)

#if ECHELON_BLOCK_LANES
HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <int B, class T>
struct BlockColumn {
  static constexpr int rounded = B <= 1 ? 1 : B <= 2 ? 2 : B <= 4 ? 4 : 8;
  using D = hn::CappedTag<T, rounded>;
  using V = hn::Vec<D>;
  static constexpr int width = static_cast<int>(hn::MaxLanes(D()));
  static constexpr int parts = (B + width - 1) / width;
  static constexpr int padded = parts * width;

  V part[parts];
};

/// Scalars of a block with room for the lanes behind its last column.
template <int B, class T>
inline constexpr int block_room = (B - 1) * B + BlockColumn<B, T>::padded;

template <int B, class T, class S>
HWY_INLINE BlockColumn<B, T> load_column(const S* p) {
  using C = BlockColumn<B, T>;
  C column;
  for (int part = 0; part < C::parts; ++part) column.part[part] = load_as(typename C::D(), p + part * C::width);
  return column;
}

template <int B, class T>
HWY_INLINE BlockColumn<B, T> zero_column() {
  using C = BlockColumn<B, T>;
  C column;
  for (int part = 0; part < C::parts; ++part) column.part[part] = hn::Zero(typename C::D());
  return column;
}

/// All `padded` lanes.
template <int B, class T>
HWY_INLINE void store_padded(const BlockColumn<B, T>& column, T* p) {
  using C = BlockColumn<B, T>;
  for (int part = 0; part < C::parts; ++part) hn::StoreU(column.part[part], typename C::D(), p + part * C::width);
}

/// The b lanes that are meant, and nothing else.
template <int B, class T>
HWY_INLINE void store_column(const BlockColumn<B, T>& column, T* p) {
  using C = BlockColumn<B, T>;
  if constexpr (C::padded == B) {
    store_padded<B, T>(column, p);
  } else {
#if HWY_MEM_OPS_MIGHT_FAULT
    HWY_ALIGN T lanes[C::padded];
    store_padded<B, T>(column, lanes);
    std::memcpy(p, lanes, B * sizeof(T));
#else
    const typename C::D d;
    for (int part = 0; part < C::parts; ++part) {
      const int meant = HWY_MIN(C::width, B - part * C::width);
      hn::BlendedStore(column.part[part], hn::FirstN(d, static_cast<std::size_t>(meant)), d, p + part * C::width);
    }
#endif
  }
}

/// y ← y − a·x
template <int B, class T>
HWY_INLINE void subtract_scaled(const BlockColumn<B, T>& a, T x, BlockColumn<B, T>& y) {
  using C = BlockColumn<B, T>;
  const auto all = hn::Set(typename C::D(), x);
  for (int part = 0; part < C::parts; ++part) y.part[part] = hn::NegMulAdd(a.part[part], all, y.part[part]);
}

/// y ← y + a·x
template <int B, class T>
HWY_INLINE void add_scaled(const BlockColumn<B, T>& a, T x, BlockColumn<B, T>& y) {
  using C = BlockColumn<B, T>;
  const auto all = hn::Set(typename C::D(), x);
  for (int part = 0; part < C::parts; ++part) y.part[part] = hn::MulAdd(a.part[part], all, y.part[part]);
}

/// a·x
template <int B, class T>
HWY_INLINE BlockColumn<B, T> scaled_column(const BlockColumn<B, T>& a, T x) {
  using C = BlockColumn<B, T>;
  const auto all = hn::Set(typename C::D(), x);
  C y;
  for (int part = 0; part < C::parts; ++part) y.part[part] = hn::Mul(a.part[part], all);
  return y;
}

/// y ← y − A x; A's lanes behind its last column must be readable.
template <int B, class T, class S>
HWY_INLINE void subtract_lanes_product(const S* A, const T* x, BlockColumn<B, T>& y) {
#pragma GCC unroll 8
  for (int c = 0; c < B; ++c) subtract_scaled<B, T>(load_column<B, T>(A + c * B), x[c], y);
}

/// A x, the first term a plain product; the same of A's lanes.
template <int B, class T, class S>
HWY_INLINE BlockColumn<B, T> lanes_product(const S* A, const T* x) {
  auto y = scaled_column<B, T>(load_column<B, T>(A), x[0]);
#pragma GCC unroll 8
  for (int c = 1; c < B; ++c) add_scaled<B, T>(load_column<B, T>(A + c * B), x[c], y);
  return y;
}

/// Asks for the block `bytes` further on: beyond what the processor's own prefetcher does at the start of a page.
template <int B, class S>
HWY_INLINE void prefetch_block(const S* block, std::int64_t bytes) {
  constexpr int line = 64;
#pragma GCC unroll 8
  for (int at = 0; at < static_cast<int>(B * B * sizeof(S)); at += line) {
    __builtin_prefetch(reinterpret_cast<const char*>(block) + bytes + at);
  }
}
inline constexpr std::int64_t prefetched_ahead = 1280;

/// The block with readable lanes behind it.
template <int B, class T, class S>
HWY_INLINE const S* block_copy(const S* block, S* room) {
  std::memcpy(room, block, B * B * sizeof(S));
  std::memset(room + B * B, 0, (block_room<B, T> - B * B) * sizeof(S));
  return room;
}

/// The value of lane `row` in every lane.
template <int B, class T>
HWY_INLINE typename BlockColumn<B, T>::V broadcast_row(const BlockColumn<B, T>& column, int row) {
  using C = BlockColumn<B, T>;
  using Index = hn::TFromD<hn::RebindToSigned<typename C::D>>;
  HWY_ALIGN Index index[C::width];
  for (int lane = 0; lane < C::width; ++lane) index[lane] = static_cast<Index>(row % C::width);
  return hn::TableLookupLanes(column.part[row / C::width], hn::SetTableIndices(typename C::D(), index));
}

/// Lanes whose row of the block lies in [from, to).
template <int B, class T>
HWY_INLINE hn::Mask<typename BlockColumn<B, T>::D> rows_between(int part, int from, int to) {
  using C = BlockColumn<B, T>;
  const typename C::D d;
  const auto first = [&](int row) HWY_ATTR {
    return hn::FirstN(d, static_cast<std::size_t>(HWY_MIN(HWY_MAX(row - part * C::width, 0), C::width)));
  };
  return hn::AndNot(first(from), first(to));
}

/// Exchanges row p with the largest at or below it in column p; returns which it was. Rare: through memory.
template <int B, class T>
HWY_NOINLINE int exchange_rows(BlockColumn<B, T>* a, int p) {
  using C = BlockColumn<B, T>;
  HWY_ALIGN T values[B * C::padded];
  for (int c = 0; c < B; ++c) store_padded<B, T>(a[c], values + c * C::padded);
  int best = p;
  for (int r = p + 1; r < B; ++r) {
    if (magnitude(values[p * C::padded + r]) > magnitude(values[p * C::padded + best])) best = r;
  }
  for (int c = 0; c < B; ++c) {
    std::swap(values[c * C::padded + p], values[c * C::padded + best]);
    a[c] = load_column<B, T>(static_cast<const T*>(values + c * C::padded));
  }
  return best;
}

/// small_block.hpp's invert with the block's columns in registers: the same pivots, the same bits.
template <int B, class T>
HWY_INLINE T invert_lanes(BlockColumn<B, T>* a) {
  using C = BlockColumn<B, T>;
  const typename C::D d;
  int swaps[B];
  bool swapped = false;
  T smallest = -1;
#pragma GCC unroll 8
  for (int p = 0; p < B; ++p) {
    auto pivot = broadcast_row<B, T>(a[p], p);
    bool larger_below = false;
    for (int part = 0; part < C::parts; ++part) {
      const auto larger = hn::Gt(hn::Abs(a[p].part[part]), hn::Abs(pivot));
      larger_below = larger_below || !hn::AllFalse(d, hn::And(larger, rows_between<B, T>(part, p + 1, B)));
    }
    swaps[p] = p;
    if (HWY_UNLIKELY(larger_below)) {
      C copy[B];  // a's own address must not be taken, or it would live in memory
#pragma GCC unroll 8
      for (int c = 0; c < B; ++c) copy[c] = a[c];
      swaps[p] = exchange_rows<B, T>(copy, p);
#pragma GCC unroll 8
      for (int c = 0; c < B; ++c) a[c] = copy[c];
      swapped = true;
      pivot = broadcast_row<B, T>(a[p], p);
    }
    const T value = hn::GetLane(pivot), size = magnitude(value);
    if (smallest < 0 || !(size >= smallest)) smallest = size;
    if (!(size > 0)) return size;
    const auto inverse = hn::Set(d, T(1) / value);
    const C factor = a[p];
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) {
      const auto row = c == p ? inverse : hn::Mul(broadcast_row<B, T>(a[c], p), inverse);
      for (int part = 0; part < C::parts; ++part) {
        const auto next = hn::NegMulAdd(factor.part[part], row, c == p ? hn::Zero(d) : a[c].part[part]);
        a[c].part[part] = hn::IfThenElse(rows_between<B, T>(part, p, p + 1), row, next);
      }
    }
  }
  if (HWY_UNLIKELY(swapped)) {
    C copy[B];
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) copy[c] = a[c];
    for (int p = B - 1; p >= 0; --p) std::swap(copy[p], copy[swaps[p]]);
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) a[c] = copy[c];
  }
  return smallest;
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
#endif
