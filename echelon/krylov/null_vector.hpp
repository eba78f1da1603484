// SPDX-License-Identifier: BSD-3-Clause
// Is v a null vector of A, and of Aᵀ too? Rounding decides: |Σ_j a_ij v_j| ≤ c (k + 1) ε Σ_j |a_ij| |v_j| in every row i
// with its k entries. Rows are looked at one by one where A is block CSR or a stencil on the host; any other matrix is
// judged as a whole, by ‖A‖∞ max|v| and c (rows a stencil has are not known there), and one that knows no norm not at all.
// Aᵀ is not at hand: v'A y for a drawn y is rounding when v is its null vector, and for no other v but by chance.
// Private to krylov/.
#pragma once

#include <cstdint>
#include <string>

#include "echelon/krylov/vectors/vector_ops.hpp"
#include "echelon/matrix/operator.hpp"

namespace echelon {

/// What a row may leave, in units of (k + 1) ε of what it sums: a diagonal that was summed in another order, entries that
/// were gathered from elements. ε is 2⁻⁵³.
inline constexpr double null_vector_rounding = 16;
/// Entries a row is taken to have where rows cannot be looked at.
inline constexpr double entries_of_unknown_rows = 32;

struct NullVectorFinding {
  bool accepted = true;
  std::string sentence;  // why not
};

/// v of unit length in A's own order. `product` and `zero` are scratch of the same size; `zero` is cleared.
NullVectorFinding judge_null_vector(const Operator<double>& A, const Vector<double>& v, VectorOps& ops,
                                    Vector<double>& product, Vector<double>& zero);

/// Whether v'A is rounding as well, so that A x has no part along v for any x. `drawn` holds numbers in [−1, 1];
/// `product` is scratch.
bool is_left_null_vector(const Operator<double>& A, const Vector<double>& v, const Vector<double>& drawn, VectorOps& ops,
                         Vector<double>& product);

}  // namespace echelon
