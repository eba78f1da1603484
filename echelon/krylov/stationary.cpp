// SPDX-License-Identifier: BSD-3-Clause
// The preconditioner alone: x ← x + M⁻¹ r, r ← r − A M⁻¹ r. Multigrid's cycles by themselves; any M with ‖I − A M⁻¹‖ < 1.
// Vector bytes a row and iteration: 24 x, 24 r, 16 r'r, beside M and A.
#include <cmath>

#include "echelon/krylov/solve_frame.hpp"

namespace echelon {
namespace {

constexpr std::int64_t own_vectors = 2;
/// Iterations without 1 % progress that end it.
constexpr std::int64_t window = 100;

void iterate(SolveFrame& s) {
  Vector<double>& r = s.residual;
  Vector<double> z = s.vector(), q = s.vector();
  while (!s.ended() && !s.at_limit()) {
    s.precondition(r, z);
    s.multiply(z, q);
    s.ops.axpy(1, z, s.x);
    const double norm = s.ops.norm_from_square(s.ops.subtract(1, q, r), r);
    if (!std::isfinite(norm)) return s.end_nonfinite({{"M⁻¹r", &z}, {"A M⁻¹r", &q}}, "the residual");
    if (!s.count(norm)) return;
    if (!s.seems_converged(norm)) continue;
    const double true_norm = s.check();
    if (s.ended()) return;
    s.claim_denied(true_norm);
  }
}

}  // namespace

Report stationary(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
                  const KrylovOptions& options) {
  require_right_side("stationary", options);
  SolveFrame s("stationary", A, b, x, M, options, 1, own_vectors * A.kept_size() * 8);
  s.stagnation_window = window;
  if (!s.ended()) iterate(s);
  return s.finish();
}

}  // namespace echelon
