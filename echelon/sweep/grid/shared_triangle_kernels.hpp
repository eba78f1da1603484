// SPDX-License-Identifier: BSD-3-Clause
// The work of struct_shared_triangles beside the sweeps, on one run of neighbouring points (whole lines where an entry of
// another line is read), for one thread. Sums have the shape of reduction_tree.hpp inside a run. D is 1 / D⁻¹ rounded.
#pragma once

#include <cstdint>
#include <span>

#include "echelon/stencil/stencil.hpp"
#include "echelon/sweep/grid/struct_sweep.hpp"

namespace echelon {

template <class T>
struct SharedTriangleArrays {
  Grid grid;
  std::span<const TriangleEntry> lower;  // planes of T
  const T* inverse;                      // D⁻¹
  const T* diagonal;                     // D_A
};

/// A search direction in both forms: p̂ = Ũ t.
struct EisenstatDirection {
  const double *p, *t;
};

/// x ← x + alpha t, g ← g − alpha (D t + y)
struct EisenstatStep {
  double alpha;
  const double *t, *y;
  double *x, *g;
};

struct SharedTriangleKernels {
  using A = SharedTriangleArrays<double>;
  /// p ← g + beta p
  void (*direction)(const double* g, double beta, double* p, std::int64_t begin, std::int64_t n);
  /// y ← p − (2D − D_A) t
  void (*right_side)(const A& a, const EisenstatDirection& d, double* y, std::int64_t begin, std::int64_t n);
  /// Σ p (t + D⁻¹y)
  double (*curvature)(const A& a, const EisenstatDirection& d, const double* y, std::int64_t begin, std::int64_t n);
  /// Σ g D⁻¹ g
  double (*weighted_square)(const A& a, const double* g, std::int64_t begin, std::int64_t n);
  /// The step; Σ g D⁻¹ g after it
  double (*update)(const A& a, const EisenstatStep& step, std::int64_t begin, std::int64_t n);
  /// r ← g + L D⁻¹ g on the lines [line, line + lines) of all planes; Σ r²
  double (*residual)(const A& a, const double* g, double* r, std::int64_t line, std::int64_t lines);
  /// w ← w + (D_A − D) z + L z on those lines
  void (*half_product)(const A& a, const double* z, double* w, std::int64_t line, std::int64_t lines);
};

/// For the CPU at hand; asked afresh, so that a test can look at each instruction set.
SharedTriangleKernels choose_shared_triangle_kernels();

}  // namespace echelon
