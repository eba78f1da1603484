// SPDX-License-Identifier: BSD-3-Clause
// Iterated triangular solves by the textbook, on dense scalar matrices and without any cleverness.
#pragma once

#include <vector>

#include "echelon/factor/trisolve_options.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon::reference {

using Dense = std::vector<std::vector<double>>;

/// A whole block CSR matrix; `unit` adds the identity (the strict lower factor of an ILU).
Dense dense(const BlockCsr<double>& A, bool unit);
std::vector<double> times(const Dense& A, const std::vector<double>& x);
std::vector<double> solve_exactly(const Dense& T, bool lower, const std::vector<double>& b);

/// k sweeps from zero. `size` is that of the diagonal blocks of T; options.rows_a_block of them make a block of block
/// Jacobi.
std::vector<double> iterate(const Dense& T, bool lower, int size, const TrisolveOptions& options, int sweeps,
                            const std::vector<double>& b);

}  // namespace echelon::reference
