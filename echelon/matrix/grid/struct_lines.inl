// SPDX-License-Identifier: BSD-3-Clause
// The rows of a structured matrix, line by line, once for each SIMD target (include it inside a foreach_target file, after
// highway.h). A row's sum stays in registers over all its entries: lanes run over points for b = 1 and over the rows of a
// block otherwise. What a sum is, is the `Sum` given: start(right side), add(a, x) for the entries and their columns in
// order, result(right side). Memory is asked for early. Bytes a point: 8 b² an entry, and 24 b for x, y and the read before
// the write. Reads are safe: entries outside the grid are left out; lanes behind a block lie in the next one, and the last
// block of a line is copied first.
#include <hwy/highway.h>

#if defined(ECHELON_MATRIX_STRUCT_LINES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_MATRIX_STRUCT_LINES_INL
#undef ECHELON_MATRIX_STRUCT_LINES_INL
#else
#define ECHELON_MATRIX_STRUCT_LINES_INL
#endif

#include <algorithm>
#include <cstdint>

#include "echelon/base/small_block_simd.inl"
#include "echelon/matrix/spmv.hpp"

#if ECHELON_BLOCK_LANES
HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

/// Stencils with more entries are left to kernels that need no list.
inline constexpr std::size_t most_line_entries = 64;

/// One entry on one line: point i takes values[i·b²…] and x[i·b…]; it is there for 0 ≤ i + shift < nx.
template <class T>
struct LineOperand {
  const T *values, *x;
  std::int64_t shift;
  bool other_plane;  // x is not in the nearest caches
};

/// The entries of a line that are inside the grid.
template <class T>
struct MatrixLine {
  LineOperand<T> operand[most_line_entries];
  int count = 0;
  std::int64_t left = 0, right = 0;  // the farthest reach along the line
  std::int64_t nx;
  T* y;
  const T* b;  // null: no right side

  MatrixLine(const StructView<T>& A, const SpmvVectors<T>& v, std::int64_t line) : nx(A.grid.nx) {
    const Grid& g = A.grid;
    const std::int64_t j = line % g.ny, k = line / g.ny, base = line * nx, bb = std::int64_t{A.block} * A.block;
    y = v.y ? v.y + base * A.block : nullptr;
    b = v.b ? v.b + base * A.block : nullptr;
    for (std::size_t e = 0; e < A.offsets.size(); ++e) {
      const Offset o = A.offsets[e];
      if (j + o.y < 0 || j + o.y >= g.ny || k + o.z < 0 || k + o.z >= g.nz || o.x <= -nx || o.x >= nx) continue;
      const std::int64_t neighbour = base + (std::int64_t{o.z} * g.ny + o.y) * nx + o.x;
      operand[count++] = {A.values + (static_cast<std::int64_t>(e) * g.points() + base) * bb, v.x + neighbour * A.block, o.x,
                          o.z != 0};
      left = std::max<std::int64_t>(left, -std::int64_t{o.x});
      right = std::max<std::int64_t>(right, o.x);
    }
  }
};

template <class D, class T>
HWY_INLINE void store_as(D d, hn::Vec<D> value, T* p) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    hn::StoreU(value, d, p);
  } else {
    const hn::Rebind<T, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, value), narrow, p);
  }
}

/// b = 1: `Packs` packs of points from i on. `Whole`: all their entries are on the line; else those that are not are left
/// out (one lane only).
template <template <class> class Sum, class D, int Packs, bool Whole, class T>
HWY_INLINE void line_packs(const MatrixLine<T>& line, std::int64_t i) {
  constexpr D d;
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  constexpr std::int64_t ahead = prefetched_ahead / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t cache_line = 64 / static_cast<std::int64_t>(sizeof(T));
  const auto right_side = [&](int p)
                              HWY_ATTR { return Sum<D>::right_side ? load_as(d, line.b + i + p * lanes) : hn::Zero(d); };
  Sum<D> sum[Packs];
  for (int p = 0; p < Packs; ++p) sum[p].start(right_side(p));
  for (int e = 0; e < line.count; ++e) {
    const LineOperand<T>& entry = line.operand[e];
    if (!Whole && (i + entry.shift < 0 || i + entry.shift >= line.nx)) continue;
    if constexpr (Packs > 1) {
      for (std::int64_t at = i + ahead; at < i + ahead + Packs * lanes; at += cache_line) {
        __builtin_prefetch(entry.values + at);
        if (entry.other_plane) __builtin_prefetch(entry.x + at);
      }
    }
    for (int p = 0; p < Packs; ++p) {
      sum[p].add(load_as(d, entry.values + i + p * lanes), load_as(d, entry.x + i + p * lanes));
    }
  }
  for (int p = 0; p < Packs; ++p) store_as(d, sum[p].result(right_side(p)), line.y + i + p * lanes);
}

/// b = 1: points [begin, end) of a line.
template <template <class> class Sum, class Real, class T>
HWY_INLINE void line_points(const MatrixLine<T>& line, std::int64_t begin, std::int64_t end) {
  using D = hn::ScalableTag<Real>;
  using One = hn::CappedTag<Real, 1>;
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const auto one_by_one = [&](std::int64_t from, std::int64_t to) HWY_ATTR {
    for (std::int64_t i = from; i < to; ++i) line_packs<Sum, One, 1, false>(line, i);
  };
  const std::int64_t first = std::min(end, std::max(begin, line.left));
  const std::int64_t last = std::max(first, std::min(end, line.nx - line.right));
  one_by_one(begin, first);
  std::int64_t i = first;
  for (; i + 4 * lanes <= last; i += 4 * lanes) line_packs<Sum, D, 4, true>(line, i);
  for (; i + lanes <= last; i += lanes) line_packs<Sum, D, 1, true>(line, i);
  if (i < last && last - first >= lanes) {
    line_packs<Sum, D, 1, true>(line, last - lanes);  // some points a second time
    i = last;
  }
  one_by_one(i, end);
}

/// Small blocks have short columns and long chains: so many points run side by side.
template <int B>
inline constexpr int points_together = B == 2   ? 4
                                       : B == 3 ? 2
                                                : 1;

/// b > 1: `Points` points of a line from i on; `near_end` when an entry may lie outside it, or lanes behind the line (one
/// point only).
template <template <class> class Sum, class Real, int B, int Points, class T>
HWY_INLINE void line_blocks(const MatrixLine<T>& line, std::int64_t i, bool near_end) {
  using C = BlockColumn<B, Real>;
  using D = typename C::D;
  constexpr D d;
  constexpr int bb = B * B;
  HWY_ALIGN T room[block_room<B, Real>];
  HWY_ALIGN Real right[Points][C::padded] = {};
  if constexpr (Sum<D>::right_side) {
    for (int p = 0; p < Points; ++p) {
      for (int r = 0; r < B; ++r) right[p][r] = line.b[(i + p) * B + r];
    }
  }
  Sum<D> sum[Points][C::parts];
  for (int p = 0; p < Points; ++p) {
    for (int part = 0; part < C::parts; ++part) sum[p][part].start(hn::Load(d, right[p] + part * C::width));
  }
  for (int e = 0; e < line.count; ++e) {
    const LineOperand<T>& entry = line.operand[e];
    if (near_end && (i + entry.shift < 0 || i + entry.shift >= line.nx)) continue;
    const T* block = entry.values + i * bb;
    const T* x = entry.x + i * B;
#pragma GCC unroll 8
    for (int at = 0; at < static_cast<int>(Points * bb * sizeof(T)); at += 64) {
      __builtin_prefetch(reinterpret_cast<const char*>(block) + prefetched_ahead + at);
    }
    if (entry.other_plane) __builtin_prefetch(reinterpret_cast<const char*>(x) + prefetched_ahead / 2);
    if (C::padded != B && near_end && HWY_UNLIKELY(i == line.nx - 1)) block = block_copy<B, Real>(block, room);
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) {
      for (int p = 0; p < Points; ++p) {
        const auto column = load_column<B, Real>(block + p * bb + c * B);
        const auto all = hn::Set(d, static_cast<Real>(x[p * B + c]));
        for (int part = 0; part < C::parts; ++part) sum[p][part].add(column.part[part], all);
      }
    }
  }
  for (int p = 0; p < Points; ++p) {
    C y;
    for (int part = 0; part < C::parts; ++part) y.part[part] = sum[p][part].result(hn::Load(d, right[p] + part * C::width));
    if constexpr (sizeof(T) == sizeof(Real)) {
      store_column<B, Real>(y, line.y + (i + p) * B);
    } else {
      store_padded<B, Real>(y, right[p]);
      for (int r = 0; r < B; ++r) line.y[(i + p) * B + r] = static_cast<T>(right[p][r]);
    }
  }
}

/// b > 1: points [begin, end) of a line.
template <template <class> class Sum, class Real, int B, class T>
HWY_INLINE void line_of_blocks(const MatrixLine<T>& line, std::int64_t begin, std::int64_t end) {
  constexpr int together = points_together<B>;
  const std::int64_t last = std::min(end, line.nx - std::max<std::int64_t>(line.right, 1));
  std::int64_t i = begin;
  for (; i < std::min(end, line.left); ++i) line_blocks<Sum, Real, B, 1>(line, i, true);
  for (; i + together <= last; i += together) line_blocks<Sum, Real, B, together>(line, i, false);
  for (; i < end; ++i) line_blocks<Sum, Real, B, 1>(line, i, true);
}

template <template <class> class Sum, class Real, int B, class T>
HWY_INLINE void part_of_line(const MatrixLine<T>& line, std::int64_t begin, std::int64_t end) {
  if constexpr (B == 1) {
    line_points<Sum, Real>(line, begin, end);
  } else {
    line_of_blocks<Sum, Real, B>(line, begin, end);
  }
}

/// Points [begin, end) of the grid. Sums are of the type Real. The stencil has at most most_line_entries entries.
template <template <class> class Sum, class Real, int B, class T>
void matrix_lines(const StructView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end) {
  const std::int64_t nx = A.grid.nx;
  while (begin < end) {
    const std::int64_t at = begin / nx;
    const std::int64_t from = begin - at * nx, to = std::min(end - at * nx, nx);
    part_of_line<Sum, Real, B>(MatrixLine<T>(A, v, at), from, to);
    begin = at * nx + to;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
#endif
