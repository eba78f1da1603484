// SPDX-License-Identifier: BSD-3-Clause
// Small matrices for the tests of the Krylov methods: dense rows into CSR, and the residual of a returned x judged apart
// from the library, in quadruple precision.
#pragma once

#include <cstdint>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"
#include "tests/reference/plain_krylov.hpp"

namespace reference {

/// Plain CSR of the non-zero entries, row by row.
echelon::BlockCsr<double> from_dense(const std::vector<std::vector<double>>& rows);
/// Row i has its one at column (i + 1) mod n: GMRES makes no progress before step n.
echelon::BlockCsr<double> cyclic_shift(std::int64_t n);
/// tridiagonal(lower, diagonal, upper)
echelon::BlockCsr<double> tridiagonal(std::int64_t n, double lower, double diagonal, double upper);

/// sin i + 0.1: a right-hand side without symmetry.
echelon::Vector<double> waves(std::int64_t n);

/// ‖b − A x‖₂ with the rows summed in quadruple precision; infinity when x is not finite.
long double exact_residual_norm(const echelon::BlockCsr<double>& A, const echelon::Vector<double>& b,
                                const echelon::Vector<double>& x);
long double exact_norm(const echelon::Vector<double>& x);

/// y = A x in long double.
Apply long_product(const echelon::BlockCsr<double>& A);
LongVector widened(const echelon::Vector<double>& x);

}  // namespace reference
