// SPDX-License-Identifier: BSD-3-Clause
// The one source of matrices for tests, benchmarks, examples and the program.
#pragma once

#include <cstdint>

#include "echelon/matrix/struct_matrix.hpp"

namespace echelon::problems {

/// −Δu on the unit cube (square, interval), u = 0 on the boundary, N interior points a direction, h = 1/(N+1), the rows
/// multiplied by h² as users of 7-point codes expect (diagonal 6 for star7). star7: second-order differences. box27: the
/// 27-point stencil 26, −1, …, −1 of HPCG. star5, box9: the same in 2-D. Other stencils: the graph Laplacian with
/// weights 1/|o|². Different spacings when the grid is not cubic are those of the unit cube.
StructMatrix<double> poisson(Grid grid, const Stencil& stencil);

struct ConvDiffOptions {
  double peclet = 10;      // |velocity|·length/diffusion
  double velocity[3] = {1.0, 0.5, 0.25};
};
/// −Δu + Pe v·∇u, Dirichlet; star stencils: diffusion by second-order, convection by first-order upwind differences.
StructMatrix<double> convection_diffusion(Grid grid, const Stencil& stencil, const ConvDiffOptions& options = {});

/// Random values in (−1, 1), made strictly (block) diagonally dominant; the same bits for the same seed everywhere.
StructMatrix<double> random(Grid grid, const Stencil& stencil, int dof, std::uint64_t seed);

}  // namespace echelon::problems
