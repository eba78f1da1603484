// SPDX-License-Identifier: BSD-3-Clause
// Foresees what k sweeps of an iteration do to an error, from the factor alone: ‖G^k‖∞ ≤ ‖ |G|^k e ‖∞, G = (1 − ω)I + ωN,
// with |N| (for blocks of rows its comparison matrix) applied to e = (1, …, 1) sweep by sweep. A proof, and exact where N ≥
// 0, as for factors of M-matrices. Where it says no, G is applied to random signs: not a proof, but cancellation counts.
#pragma once

#include "echelon/factor/rows/triangle_view.hpp"
#include "echelon/factor/trisolve_options.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {

struct ErrorGrowth {
  double largest = 1;  // of ‖G^k e‖∞ over k = 0 … sweeps; infinite when it overflows
  double last = 1;     // after the last sweep
  int sweeps = 0;      // that were followed
};

/// By the bound, for `sweeps` sweeps or until at most `enough` is left.
template <class T>
ErrorGrowth bound_of_growth(const TriangleView<T>& triangle, const TrisolveOptions& options, int sweeps, double enough = 0);

/// Empty when the iteration may run: the error left is at most the first one, and what comes between can neither overflow
/// nor drown the result in its rounding (undamped Jacobi that leaves nothing of the error forgets it). Otherwise why not, a
/// clause.
std::string objection(const ErrorGrowth& growth, const TriangleNote& note, const TrisolveOptions& options,
                      bool single_precision);

}  // namespace echelon
