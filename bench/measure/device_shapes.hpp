// SPDX-License-Identifier: BSD-3-Clause
// The shapes a GPU is measured on: the paper's table 3 (five stencils, DoF 1, 2, 4, 6, 8) with DoF 3 and 5 between, in the
// sizes of its RTX 3090 or its A100 column; sides that grow for the two shapes of its figure 9 and for star7; a few for a
// breakdown of the method as in its figure 8. All values are random.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/bench_case.hpp"

namespace echelon::bench {

/// "rtx3090", "a100", "growing", "breakdown", and of sweeps "many": on several vectors at once
std::vector<std::string> device_columns();
/// Contenders index with 32 bits and fault on the larger column, which is for ours alone, as a breakdown of ours is.
bool has_contenders(const std::string& column);

/// `small`: the same list on tiny grids. Throws Error(bad_argument) for an unknown column.
std::vector<BenchCase> device_shapes(const std::string& kind, const std::string& column, bool small);

/// The six solves of the paper's table 4, in its sizes: Poisson by CG with IC(0) and IC(1), the others by GMRES with ILU(0).
std::vector<BenchCase> device_solves(bool small);
/// Poisson by CG to 1e-5 on growing grids up to the table's, as in the paper's figure 11.
std::vector<BenchCase> device_convergence(bool small);

}  // namespace echelon::bench
