// SPDX-License-Identifier: BSD-3-Clause
// Numbers that describe a triangle T with diagonal (blocks) D, for reports and study; T need not be well scaled.
//   departure     dep(T) = sqrt(‖T‖_F² − ‖diag T‖_F²), Henrici's departure from normality of a triangular matrix; for blocks
//                 what is outside the diagonal blocks counts. Of D⁻¹T too: that one decides about Jacobi.
//   condition_1   ‖T‖₁ times Higham's estimate of ‖T⁻¹‖₁ (a lower bound, nearly always within a factor of three)
//   condition_2   exact, by one-sided Jacobi rotations of the dense matrix: O(n³), for small ones
//   level_count   rows of the longest chain of dependencies: so many sweeps of Jacobi are exact
#pragma once

#include "echelon/factor/rows/triangle_view.hpp"

namespace echelon {

template <class T>
double departure(const TriangleView<T>& triangle);
/// dep(D⁻¹T)
template <class T>
double normalised_departure(const TriangleView<T>& triangle);

/// Infinite when the triangle or its inverse overflows.
template <class T>
double condition_1(const TriangleView<T>& triangle);

/// Column-major n×n, overwritten. The quotient of the largest by the smallest singular value; infinite when that is 0.
double condition_2(std::int64_t n, Array<double>& dense);
/// The triangle with its diagonal, column-major.
template <class T>
Array<double> dense(const TriangleView<T>& triangle);

/// With `rows_a_block` > 1: levels of blocks of so many consecutive block rows.
std::int64_t level_count(const TrianglePattern& triangle, std::int64_t rows_a_block = 1);

/// The diagonal blocks themselves from their inverses; null gives an empty array.
template <class T>
Array<T> diagonal_blocks(const TriangleView<T>& triangle);

}  // namespace echelon
