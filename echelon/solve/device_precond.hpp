// SPDX-License-Identifier: BSD-3-Clause
// What the registry's entries say of a GPU, asked for a choice: whether it has a body there, for a structured matrix and for
// block CSR, and its making there.
#pragma once

#include <memory>
#include <string>

#include "echelon/matrix/grid_gpu/tile_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/preconditioner.hpp"
#include "echelon/solve/auto_rule.hpp"

namespace echelon {

/// Whether a structured matrix becomes block CSR for it: thresholds, colours, another order, iterated solves.
bool leaves_grid(const AutoChoice& choice);

/// Why this choice runs on the host only, as a clause ("jacobi has no version for a GPU"); empty when a GPU can.
std::string host_only(const AutoChoice& choice, const Stencil& stencil);
std::string host_only(const AutoChoice& choice);  // block CSR

/// `on_gpu` is in the order of the choice's fill; `asymmetry` is as in its traits. Throws as the host's version does.
std::unique_ptr<Preconditioner<double>> make_on_gpu(const AutoChoice& choice, const TileMatrix& on_gpu, double asymmetry);
/// `on_gpu` is a copy of A there, the traits are A's.
std::unique_ptr<Preconditioner<double>> make_on_gpu(const AutoChoice& choice, const BlockCsr<double>& A,
                                                    const BlockCsr<double>& on_gpu, const MatrixTraits& traits);

}  // namespace echelon
