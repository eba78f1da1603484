// SPDX-License-Identifier: BSD-3-Clause
// The nodal pressure projection of a variable-density low-Mach flow around an obstacle, the singular and badly scaled system
// that hybrid multigrid with ILUT smoothers is for:
//   ∫_fluid (1/ρ) ∇φ_i·∇p = ∫_fluid ∇φ_i·u*   for every node i, divided by the volume of a cell,
// with bilinear or trilinear φ_i on square or cubic cells, one ρ and one velocity u* a cell. The domain is the box of the
// grid with its longest side 1; nothing flows through its boundary or into the obstacle (natural conditions), so p is known
// up to a constant.
#pragma once

#include <array>
#include <functional>

#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::problems {

using VectorField = std::function<std::array<double, 3>(double x, double y, double z)>;

/// Gas of density 1 above a wavy front and 1/ratio below it; ln ρ changes over about a tenth of the height of a unit cube.
/// Throws Error(bad_argument) unless the ratio is at least 1 and finite.
Coefficient flame_density(double ratio);
/// A smooth flow along x with waves, so that its divergence is not zero.
VectorField waved_velocity();

struct ProjectionOptions {
  Coefficient density = flame_density(1e6);  // positive everywhere
  VectorField velocity = waved_velocity();   // u*
  /// Of the obstacle, a circle or sphere in the middle of the box, as a share of its smallest side; 0: none.
  double radius = 0.2;
};

struct ProjectionSystem {
  /// Symmetric to the last bit, not negative, rows sum to zero up to rounding. Couplings that are zero for every density
  /// (the six face neighbours on a cube) are not stored: up to 21 entries a row, 9 in two dimensions.
  BlockCsr<double> A;
  Vector<double> b;          // sums to zero up to rounding
  Array<std::int32_t> node;  // by row: i + nx (j + ny k) of its node in the grid
};

/// Nodes at multiples of the spacing, N a direction; nz = 1 is two-dimensional. Cells count by their share of fluid, from
/// 16² or 8³ samples in those that the boundary cuts; nodes without fluid around them are left out. Throws
/// Error(bad_argument) for fewer than 2 nodes in a direction, a radius outside [0, 0.45], and densities that are not
/// positive and finite.
ProjectionSystem projection(const Grid& nodes, const ProjectionOptions& options = {});

}  // namespace echelon::problems
