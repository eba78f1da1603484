// SPDX-License-Identifier: BSD-3-Clause
// HPCG's tests of the optimised kernels.
#pragma once

#include <functional>

#include "apps/hpcg/optimised_run.hpp"
#include "apps/hpcg/outcome.hpp"

namespace echelon::hpcg {

/// Diagonal and b times 10⁶, rows 0 to 8 of the whole grid times (i + 2)·10⁶: conjugate gradients to 1e-12, twice without
/// and twice with the preconditioner. b is in natural order; the matrix is afterwards what it was.
SpectralTest test_spectrum(OptimisedRun& run, const Geometry& geometry, const Vector<double>& b,
                           const std::function<Verdict()>& ask);

/// With vectors of drawn numbers in [1, 2). HPCG 3.1's own code divides by the squares of the norms; the norms themselves,
/// as its report has it, are the stricter rule.
SymmetryTest test_symmetry(OptimisedRun& run, const Geometry& geometry);

/// b_i = 27 − entries of row i: the right-hand side whose solution is 1.
Vector<double> right_hand_side(const Geometry& geometry);

/// A number in [1, 2) for every row of the whole grid, the same for any number of processes.
Vector<double> drawn_vector(const Geometry& geometry, std::uint64_t seed);

}  // namespace echelon::hpcg
