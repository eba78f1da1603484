// SPDX-License-Identifier: BSD-3-Clause
// How strongly the points of a matrix on a grid couple along each direction: |S|, S the sum of a row's entries towards one
// side. Of tensor stencils that sum leaves the coupling along the direction alone. Of large grids every n-th line is looked
// at, n odd; sums in a fixed order.
#pragma once

#include <array>
#include <vector>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/precond/mg/axis.hpp"

namespace echelon {

/// Means over the sides that have a neighbour; 0 along a direction of one point.
std::array<double, 3> mean_couplings(const StructMatrix<double>& A);

/// Those with a side ≥ 2 whose mean coupling is at least `strong` times the strongest of such, in the order z, y, x.
/// Empty: all sides are 1. Of couplings that are no numbers, or all zero: all directions with a side ≥ 2.
std::vector<Axis> directions_to_coarsen(const StructMatrix<double>& A, double strong);

/// The part of points whose couplings are not alike: the strongest above 3 times the weakest of the sides that have a
/// neighbour.
double uneven_points(const StructMatrix<double>& A);

}  // namespace echelon
