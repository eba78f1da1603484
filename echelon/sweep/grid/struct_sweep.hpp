// SPDX-License-Identifier: BSD-3-Clause
// Exact triangular sweeps on a stencil, index-free, in natural order (upper: backwards):
//   L: x_p = r_p − Σ_m L_m x_k          U: x_p = D_p⁻¹ (r_p − Σ_u U_u x_k)          the farthest entry first.
// Each entry's coefficients are one plane over all points. A kernel does a part of a group of lines
// (schedule/grid/line_groups); the bits are those of the point-by-point reference for every group, thread count and SIMD
// width.
#pragma once

#include <cstdint>
#include <span>

#include "echelon/base/stored.hpp"
#include "echelon/schedule/grid/line_groups.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

struct TriangleEntry {
  Offset offset;
  const void* values;  // a block a point
};

/// One triangle, entries in sweep order (the farthest first).
struct StructTriangle {
  Grid grid;
  std::span<const TriangleEntry> entries;
  const void* inverse_diagonal;  // a block a point; U, and L when `scaled`
  /// L is not stored: L_m = values_m D_k⁻¹ with k the neighbour, as in A's own factorization where only the diagonal
  /// changes.
  bool scaled;
  int block;
  int lag;
  /// Narrow storage: U is stored divided by a power of two and D⁻¹ multiplied by it, so that both are of size 1; L's sweep
  /// then takes r times this.
  double r_scale = 1;
  /// For packed_struct_sweep: [line][pack of 8 points][entry], U's with D⁻¹ behind its entries; L as it is multiplied with.
  const void* packs = nullptr;
};

template <class T>
struct SweepVectors {
  const T* r;
  T* x;  // may be r
};

template <class T>
struct StructSweepKernels {
  /// `scratch`: sweep_scratch_bytes of memory, a thread's own.
  using Lines = void (*)(const StructTriangle& triangle, const LineWork& work, const SweepVectors<T>& v, void* scratch);
  Lines lower = nullptr, upper = nullptr;
  LineGroups::Shape shape;  // the groups these kernels take
};

/// b = 1, lanes over points; at most `most_along` entries may lie on the point's own line. `lines` of a group: 1 or 2. Two
/// recurrences are in flight in a pair whose coefficients are narrower than the vectors; any others are right, but slower.
inline constexpr int most_along = 8;
template <class T>
StructSweepKernels<T> scalar_struct_sweep(Stored stored, int lines);
/// Up to as many entries a triangle, narrow coefficients go in pairs of lines; wide stencils read enough to hide the
/// recurrence.
inline constexpr int narrow_triangle = 4;

/// The same bits of `triangle.packs` instead of planes, for wide stencils: one stream of memory and not one an entry. Made
/// for double; no kernels for float.
template <class T>
StructSweepKernels<T> packed_struct_sweep();
/// From as many entries a triangle on.
inline constexpr int wide_triangle = 8;  // with 6 (star13, diamond13) planes are as fast
/// Fills the packs of one line of the grid (j + k ny) from the planes.
template <class T>
using FillPacks = void (*)(const StructTriangle& from, bool lower, std::int64_t line, T* packs);
template <class T>
FillPacks<T> fill_packs();
/// Scalars of all of a triangle's packs.
inline std::int64_t packed_scalars(const Grid& grid, std::int64_t entries, bool lower) {
  return grid.ny * grid.nz * ((grid.nx + 7) / 8) * 8 * (entries + (lower ? 0 : 1));
}

/// b = 2 … 8, lanes over the rows of a block; null where there is none: another b, or a CPU without fused multiply-add.
template <class T>
StructSweepKernels<T> block_struct_sweep(int block, Stored stored);
template <int B, class T>
StructSweepKernels<T> struct_sweep_of(Stored stored);

/// Any b, point by point, coefficients stored as the vectors are: the reference.
template <class T>
StructSweepKernels<T> point_struct_sweep(int block);

/// What a kernel keeps of one entry for one line.
struct LineEntry {
  const void* values;
  const void* x;
  const void* inverse;
  std::int64_t shift;
};
/// Bytes of scratch a thread needs: the entries of a group's lines, or a row and a block of scalars.
inline std::int64_t sweep_scratch_bytes(int lines, std::int64_t entries, std::int64_t block) {
  return static_cast<std::int64_t>(sizeof(LineEntry)) * lines * (entries + 1) + 8 * (block + 1) * block;
}

}  // namespace echelon
