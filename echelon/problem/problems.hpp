// SPDX-License-Identifier: BSD-3-Clause
// The one source of matrices for tests, benchmarks, examples and the program.
#pragma once

#include <cstdint>
#include <functional>

#include "echelon/matrix/struct_matrix.hpp"

namespace echelon::problems {

/// −Δu on the unit cube (square, interval), u = 0 on the boundary, N interior points a direction, h_d = 1/(N_d + 1), the
/// rows multiplied by h², h the smallest spacing, as users of 7-point codes expect (diagonal 6 for star7 on a cube). The
/// full 3×3×3 cube and 3×3 square: 26 (8) and −1, as in HPCG, whatever the spacings; on a cube this is 9h² (3h²) times −Δ to
/// second order. Every other symmetric stencil: weights h²/|o|² with |o| the distance in the unit cube, which for star5 and
/// star7 are the second-order differences. Throws Error(bad_argument) for stencils without symmetry or without neighbours,
/// and for those that do not reach along an axis the grid extends in.
StructMatrix<double> poisson(Grid grid, const Stencil& stencil);

struct ConvDiffOptions {
  double peclet = 10;                     // |velocity|·length/diffusion
  double velocity[3] = {1.0, 0.5, 0.25};  // only its direction counts
};
/// −Δu + Pe (v/|v|)·∇u, Dirichlet, rows multiplied by h² as for `poisson`: second-order differences for diffusion,
/// first-order upwind ones for convection. The stencil must be star5, star7 or their 1-D kin: ±1 along the axes.
StructMatrix<double> convection_diffusion(Grid grid, const Stencil& stencil, const ConvDiffOptions& options = {});

/// A coefficient at a point of the unit cube; called from several threads at once.
using Coefficient = std::function<double(double x, double y, double z)>;
/// exp(½ ln C · cos 2πx cos 2πy cos 2πz): from C^−½ to C^½, without a jump. Throws Error(bad_argument) for C < 1.
Coefficient smooth_coefficient(double contrast);
/// Cubes of side ¼ like a chessboard, 1 and C in turn. Throws Error(bad_argument) unless C is positive.
Coefficient jump_coefficient(double contrast);

struct VarPoissonOptions {
  Coefficient kappa = smooth_coefficient(100);  // positive everywhere
  double anisotropy[3] = {1, 1, 1};             // a factor of κ along x, y and z
};
/// −∇·(κ diag(εx, εy, εz) ∇u), Dirichlet, on the points of `poisson` and with rows multiplied by its h². Unit stars: κ at
/// the points, harmonic means on the faces between them. The full box: bilinear or trilinear elements, κ at their centres.
/// Symmetric positive definite. Throws Error(bad_argument) for other stencils and for coefficients that are not positive.
StructMatrix<double> variable_poisson(Grid grid, const Stencil& stencil, const VarPoissonOptions& options = {});

/// Random values in (−1, 1); the diagonal is 1 to 2 larger than the sum of the row's other magnitudes, so scalar rows and
/// blocks are strictly dominant. A value depends on the seed and its own place only: the same bits for every thread count.
StructMatrix<double> random(Grid grid, const Stencil& stencil, int dof, std::uint64_t seed);

}  // namespace echelon::problems
