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

#include <cstring>

#include "echelon/base/simd.inl"

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
    HWY_ALIGN T lanes[C::padded];
    store_padded<B, T>(column, lanes);
    std::memcpy(p, lanes, B * sizeof(T));
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

/// The block with readable lanes behind it.
template <int B, class T, class S>
HWY_INLINE const S* block_copy(const S* block, S* room) {
  std::memcpy(room, block, B * B * sizeof(S));
  std::memset(room + B * B, 0, (block_room<B, T> - B * B) * sizeof(S));
  return room;
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
#endif
