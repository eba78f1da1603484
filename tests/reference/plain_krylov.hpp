// SPDX-License-Identifier: BSD-3-Clause
// CG and GMRES as in the textbook: dense matrix, long double, one thread, no tricks. GMRES by modified Gram-Schmidt and the
// normal use of Givens rotations; right preconditioning. What the library's must agree with to rounding.
#pragma once

#include <functional>
#include <vector>

namespace reference {

using LongVector = std::vector<long double>;
using Apply = std::function<LongVector(const LongVector&)>;

struct PlainResult {
  LongVector x;
  std::vector<long double> residual_norms;  // one an iteration, the first that of the start
};

/// Until ‖r‖ ≤ rtol ‖b‖ or `max_it` iterations.
PlainResult plain_cg(const Apply& A, const Apply& M, const LongVector& b, long double rtol, int max_it);
PlainResult plain_gmres(const Apply& A, const Apply& M, const LongVector& b, long double rtol, int max_it, int restart);

}  // namespace reference
