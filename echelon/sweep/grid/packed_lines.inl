// SPDX-License-Identifier: BSD-3-Clause
// Lines of packed triangles, once for each SIMD target (include it inside a foreach_target file, after highway.h): where a
// line's packs and neighbours are, and sums over its entries, lanes over points. A pack is the coefficients of 64 bytes of
// neighbouring points, entry by entry, a cache line each. Memory is asked for six packs ahead, into L2.
#include <hwy/highway.h>

#if defined(ECHELON_SWEEP_PACKED_LINES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_SWEEP_PACKED_LINES_INL
#undef ECHELON_SWEEP_PACKED_LINES_INL
#else
#define ECHELON_SWEEP_PACKED_LINES_INL
#endif

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "echelon/base/fma.hpp"
#include "echelon/base/simd.inl"
#include "echelon/sweep/grid/gauss_seidel_kernels.hpp"
#include "echelon/sweep/grid/struct_sweep.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr std::int64_t packs_ahead = 6;

template <class T>
constexpr int pack_points = 64 / static_cast<int>(sizeof(T));
template <class T>
using Points = hn::CappedTag<T, pack_points<T>>;

/// Points [i, i + lanes) of a line of nx; those outside are 0.
template <bool edge, class D, class T>
HWY_INLINE hn::Vec<D> load_points(D d, const T* line, std::int64_t i, std::int64_t nx) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (!edge || (i >= 0 && i + lanes <= nx)) return hn::LoadU(d, line + i);
  return load_lanes(d, line + i, std::clamp<std::int64_t>(-i, 0, lanes), std::clamp<std::int64_t>(nx - i, 0, lanes));
}

/// Those of [i, i + lanes) that are on the line.
template <bool edge, class D, class V, class T>
HWY_INLINE void store_points(D d, V value, T* line, std::int64_t i, std::int64_t nx) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (!edge || i + lanes <= nx) return hn::StoreU(value, d, line + i);
  HWY_ALIGN T lane[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(value, d, lane);
  for (std::int64_t n = 0; n < std::min(lanes, nx - i); ++n) line[i + n] = lane[n];
}

/// A triangle on one line.
template <class T>
struct PackedLine {
  const T* packs;
  std::int64_t stride;  // from pack to pack
  const PackedOperand<T>* operand;
  int across = 0, along = 0;         // entries inside the grid: those of other lines first
  std::int64_t left = 0, right = 0;  // how far they reach
  std::int64_t diagonal;             // D or D⁻¹ in a pack
  int count() const { return across + along; }
};

struct LineAt {
  std::int64_t j, k;
};

/// Entries of a triangle in sweep order, the farthest first, and their packs; `extra` slots stand behind them.
template <class T, class Entry>
struct PackedTriangle {
  Grid grid;
  std::span<const Entry> entries;
  const T* packs;
  int extra;
};

inline Offset offset_of(const Offset& offset) { return offset; }
inline Offset offset_of(const TriangleEntry& entry) { return entry.offset; }

template <class T, class Entry>
PackedLine<T> packed_line(const PackedTriangle<T, Entry>& triangle, LineAt at, const T* x, PackedOperand<T>* space) {
  constexpr std::int64_t W = pack_points<T>;
  const Grid& g = triangle.grid;
  const auto entries = static_cast<std::int64_t>(triangle.entries.size());
  PackedLine<T> line;
  line.stride = (entries + triangle.extra) * W;
  line.packs = triangle.packs + (at.k * g.ny + at.j) * ((g.nx + W - 1) / W) * line.stride;
  line.operand = space;
  line.diagonal = entries * W;
  for (std::int64_t e = 0; e < entries; ++e) {
    const Offset o = offset_of(triangle.entries[static_cast<std::size_t>(e)]);
    if (at.j + o.y < 0 || at.j + o.y >= g.ny || at.k + o.z < 0 || at.k + o.z >= g.nz || o.x <= -g.nx || o.x >= g.nx)
      continue;
    space[line.count()] = {x + ((at.k + o.z) * g.ny + at.j + o.y) * g.nx + o.x, e * W, o.x};
    ++(o.y == 0 && o.z == 0 ? line.along : line.across);
    line.left = std::max<std::int64_t>(line.left, -o.x);
    line.right = std::max<std::int64_t>(line.right, o.x);
  }
  return line;
}

/// sum ± Σ a x over operands [first, last) for lanes from point i on; `pack` is where the lanes' coefficients begin.
template <bool edge, bool negative, class D, class T, class V>
HWY_INLINE V gathered(D d, const PackedOperand<T>* first, const PackedOperand<T>* last, const T* pack, std::int64_t i,
                      std::int64_t nx, V sum) {
  for (const PackedOperand<T>* o = first; o != last; ++o) {
    auto x = hn::Zero(d);
    if (!edge || (i + o->shift >= 0 && i + o->shift + static_cast<std::int64_t>(hn::Lanes(d)) <= nx)) {
      x = hn::LoadU(d, o->x + i);
    } else {
      x = load_points<true>(d, o->x - o->shift, i + o->shift, nx);
    }
    sum = fused<negative>(d, hn::Load(d, pack + o->slot), x, sum);
  }
  return sum;
}

constexpr int most_kept = 2;
/// The values before pack p along the line, the farthest first, as the entries are; 0 outside. They stay in registers from
/// pack to pack: to read back what was just stored would cost a cycle a point. None where `along` is no constant.
template <bool forward, class T, class Count>
HWY_INLINE void values_before_pack(const T* x, std::int64_t p, std::int64_t nx, Count, T* last) {
  if constexpr (!std::is_same_v<Count, int>) {
    constexpr int count = Count::value, W = pack_points<T>;
    static_assert(count <= most_kept);
    for (int a = 0; a < count; ++a) {
      const std::int64_t i = p * W + (forward ? a - count : W - 1 + count - a);
      last[a] = i >= 0 && i < nx ? x[i] : T(0);
    }
  }
}

template <class T>
HWY_INLINE void ask_for(const T* pack, std::int64_t stride) {
  for (std::int64_t at = 0; at < stride; at += pack_points<T>) __builtin_prefetch(pack + at, 0, 2);
}

/// body(pack, whole): all packs of a line; `whole` when entries that reach `left` and `right` stay on it.
template <class T, class Body>
HWY_INLINE void for_packs(std::int64_t nx, std::int64_t left, std::int64_t right, const Body& body) {
  constexpr int W = pack_points<T>;
  const std::int64_t first = (left + W - 1) / W, last = std::max(first, (nx - right) / W);
  const std::int64_t end = (nx + W - 1) / W;
  std::int64_t p = 0;
  for (; p < std::min(first, end); ++p) body(p, std::false_type());
  for (; p < std::min(last, end); ++p) body(p, std::true_type());
  for (; p < end; ++p) body(p, std::false_type());
}

/// sweep(pack, edge, along, values): the packs of a piece of a line, in the order of a sweep, which `work` counts; `edge`
/// unless entries that reach `left` and `right` stay on the line. `along`, how many of its entries lie on the line, is known
/// to the compiler where they are none, the nearest or the two nearest; `values` of x before the pack are kept for these.
template <bool forward, class T, class Sweep>
HWY_INLINE void for_swept_packs(const PackedLine<T>& line, const T* x, const LineWork& work, std::int64_t nx,
                                std::int64_t left, std::int64_t right, const Sweep& sweep) {
  constexpr int W = pack_points<T>;
  const std::int64_t count = (nx + W - 1) / W;
  const std::int64_t inner_begin = (left + W - 1) / W, inner_end = std::max(inner_begin, (nx - right) / W);
  const std::int64_t first = forward ? inner_begin : count - inner_end, last = forward ? inner_end : count - inner_begin;
  const auto run = [&](auto along) {
    std::int64_t n = work.begin;
    const auto pack = [&] { return forward ? n : count - 1 - n; };
    T values[most_kept];
    values_before_pack<forward>(x, pack(), nx, along, values);
    for (; n < std::min(first, work.end); ++n) sweep(pack(), std::true_type(), along, values);
    for (; n < std::min(last, work.end); ++n) sweep(pack(), std::false_type(), along, values);
    for (; n < work.end; ++n) sweep(pack(), std::true_type(), along, values);
  };
  const auto nearest = [&](int a) {
    return line.operand[line.across + a].shift == (forward ? a - line.along : line.along - a);
  };
  if (line.along == 0) {
    run(std::integral_constant<int, 0>());
  } else if (line.along == 1 && nearest(0)) {
    run(std::integral_constant<int, 1>());
  } else if (line.along == 2 && nearest(0) && nearest(1)) {
    run(std::integral_constant<int, 2>());
  } else {
    run(line.along);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
