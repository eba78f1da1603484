// SPDX-License-Identifier: BSD-3-Clause
// Ruiz equilibration: positive R = diag(row) and C = diag(column) with which every row and column of R⁻¹ M C⁻¹ that is not
// zero has the largest magnitude 1. Each round divides rows and columns by the square roots of their largest magnitudes at
// once, so a symmetric M gets R = C; the logarithms of what is left halve, so a range of 10¹² is within 10⁻⁶ after 25
// rounds. What it cannot do: with D⁻¹ in the iteration, Jacobi's iterates for R⁻¹ T C⁻¹ are those for T
// (docs/method/trisolve.md).
#pragma once

#include "echelon/factor/rows/triangle_view.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

struct RuizOptions {
  int most_rounds = 60;
  double tolerance = 1e-6;
};

struct RuizScaling {
  Array<double> row, column;  // by scalar row and column; 1 where there is nothing but zeros
  int rounds = 0;
  double deviation = 0;  // the largest |1 − max| of a row or column that is left
  bool converged = false;
};

/// Values that are not finite are taken as zero. The scales are made anew, in place when they have the size.
template <class T>
void equilibrate(const BlockCsr<T>& A, RuizScaling& scaling, const RuizOptions& options = {});
/// The triangle with its diagonal blocks `diagonal` (null: the identity).
template <class T>
void equilibrate(const TriangleView<T>& triangle, const T* diagonal, RuizScaling& scaling, const RuizOptions& options = {});

/// R⁻¹ A C⁻¹
template <class T>
BlockCsr<T> scaled(const BlockCsr<T>& A, const RuizScaling& scaling);

}  // namespace echelon
