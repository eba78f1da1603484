// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) on a stencil by the plain sequential algorithm: grid points in natural order, IKJ elimination, (LU)_ij = A_ij on
// the stencil; and its two triangular sweeps. This is the reference that every faster structured kernel must equal bit for
// bit; it equals block CSR ILU(0) of the converted matrix bit for bit, because both have the same row mathematics. The
// factors have the matrix' layout: plane e holds L (e < center), U (e > center), or the inverted pivots (e = center).
#pragma once

#include <cstdint>
#include <span>

#include "echelon/factor/pivot_rules.hpp"
#include "echelon/matrix/stencil.hpp"

namespace echelon {

/// Eliminating with lower entry m: U entry `upper` of that neighbour meets entry `target` of the row.
struct Meeting {
  std::int32_t upper, target;
};

/// What the elimination on a stencil looks like, the same for every point: meetings of lower entry m are
/// meeting[first[m]] … meeting[first[m+1] − 1], in ascending order of their columns.
struct StructPlan {
  Grid grid;
  std::span<const Offset> offsets;
  int center;
  std::span<const std::int32_t> first;
  std::span<const Meeting> meeting;
};

template <class T>
struct StructFactors {
  StructPlan plan;
  int block;
  T* values;
};

template <class T>
struct StructWorkspace : PivotWorkspace<T> {
  std::uint8_t* inside = nullptr;  // one a stencil entry: the neighbour of the current point exists
  T* product = nullptr;            // b²
  T* sum = nullptr;                // b
};

template <class T>
struct StructIluKernels {
  /// All points in natural order; `A` is in the factors' layout.
  void (*factor)(const StructFactors<T>& F, const T* A, const PivotRules& rules, StructWorkspace<T>& work);
  /// y = L⁻¹ r; then z = U⁻¹ y, which may be done in place.
  void (*lower)(const StructFactors<T>& F, const T* r, T* y, T* sum);
  void (*upper)(const StructFactors<T>& F, const T* y, T* z, T* sum);
};

template <class T>
const StructIluKernels<T>& struct_ilu_kernels(int block);

}  // namespace echelon
