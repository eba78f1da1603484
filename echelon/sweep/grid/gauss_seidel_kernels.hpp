// SPDX-License-Identifier: BSD-3-Clause
// What gauss_seidel.hpp does on one line of the grid, for one thread, and the storage it reads: a pack is the entries of 64
// bytes of neighbouring points, a cache line an entry, so that all entries of a triangle are one stream of memory. Values
// whose neighbour lies outside the grid are stored as zero; behind a line's end L and U are 0, D and D⁻¹ are 1.
#pragma once

#include <cstdint>
#include <span>

#include "echelon/schedule/grid/line_groups.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

template <class T>
struct PackedMatrix {
  static constexpr int width = 64 / static_cast<int>(sizeof(T));  // points of a pack
  Grid grid;
  std::int64_t packs;             // of a line
  std::span<const Offset> lower;  // the farthest first, as in the packs
  std::span<const Offset> upper;
  const T* L;  // a pack: its entries, then D⁻¹
  const T* U;  // a pack: its entries, then D

  static std::int64_t packs_of(const Grid& grid) { return (grid.nx + width - 1) / width; }
};

/// A's planes in user order: of each entry of the stencil, all points. S is T, or double where T is float.
template <class S>
struct PackSource {
  std::span<const Offset> offsets;
  int center;
  const S* values;
};

template <class T>
struct GaussSeidelVectors {
  const T* r;
  T* half;
  T* x;
  T* out;
};

/// What a kernel keeps of one entry for one line; there is room for all entries of the stencil.
template <class T>
struct PackedOperand {
  const T* x;         // the neighbour of the line's first point
  std::int64_t slot;  // where the entry is in a pack
  std::int64_t shift;
};

template <class T>
struct GaussSeidelKernels {
  using Space = PackedOperand<T>*;
  /// Steps of packs, in sweep coordinates as LineGroups gives them.
  using Sweep = void (*)(const PackedMatrix<T>& A, const LineWork& work, const GaussSeidelVectors<T>& v, Space space);
  /// Line j + k ny.
  using Line = void (*)(const PackedMatrix<T>& A, std::int64_t line, const GaussSeidelVectors<T>& v, Space space);
  template <class S>
  using Store = void (*)(const PackedMatrix<T>& A, const PackSource<S>& from, std::int64_t line, T* L, T* U);
  Sweep forward_from_zero, forward_from_guess, backward;
  Sweep forward, backward_from_guess;  // one sweep alone; `half` is not looked at
  Line residual;
  Line upper_residual;   // out = −U x
  Line coarse_residual;  // a line with even j and k; out is the coarse vector
  Line multiply;         // out = A x
  Store<T> store;
  Store<double> store_rounded;
  /// Σ x y over at most one chunk of base/reduction_tree.hpp
  double (*dot)(const T* x, const T* y, std::int64_t n);
};

/// For the CPU at hand; asked afresh, so that a test can look at each instruction set.
template <class T>
GaussSeidelKernels<T> gauss_seidel_kernels();

}  // namespace echelon
