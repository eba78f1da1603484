// SPDX-License-Identifier: BSD-3-Clause
// Preconditioned conjugate gradients (Hestenes and Stiefel 1952): p ← z + (ρ/ρ₋) p, x ← x + α p, r ← r − α A p with
// α = r'z / p'Ap. A and M symmetric positive definite; the two inner products prove it wrong when it is not so.
// Vector bytes a row and iteration: 16 r'z, 24 p, 16 p'q, 48 x and r with r'r.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "echelon/krylov/cg_forms.hpp"

namespace echelon {
namespace {

/// Beside the frame's: its residual is the recurrence's too, until `check` writes b − A x there.
constexpr std::int64_t own_vectors = 3;
/// On a GPU x lags behind, so directions are kept; Eisenstat's form keeps two diagonals besides.
constexpr std::int64_t queued_directions = LaggingSteps::most - 1, queued_diagonals = 2;
/// In exact arithmetic n iterations suffice, and until then the residual owes no progress.
constexpr std::int64_t shortest_window = 500, longest_window = 20000;

void iterate(SolveFrame& s) {
  Vector<double>& r = s.residual;
  Vector<double> z = s.vector(), p = s.vector(), q = s.vector();
  double rho = 0;
  bool first = true;
  while (!s.ended() && !s.at_limit()) {
    s.precondition(r, z);
    const double rho_next = s.ops.dot(r, z);
    if (!std::isfinite(rho_next)) return s.end_nonfinite({{"r", &r}, {"M⁻¹r", &z}}, "r'M⁻¹r");
    if (rho_next <= 0) return end_not_positive(s, true, rho_next);
    if (first) {
      p.copy_from(z);
    } else {
      s.ops.xpay(z, rho_next / rho, p);
    }
    first = false;
    rho = rho_next;
    s.multiply(p, q);
    const double curvature = s.ops.dot(p, q);
    if (!std::isfinite(curvature)) return s.end_nonfinite({{"p", &p}, {"A p", &q}}, "p'Ap");
    if (curvature <= 0) return end_not_positive(s, false, curvature);
    const double square = s.ops.cg_update(rho / curvature, p, q, s.x, r);
    const double norm = s.ops.norm_from_square(square, r);
    if (!s.count(norm)) return;
    if (!s.seems_converged(norm)) continue;
    const double true_norm = s.check();
    if (s.ended()) return;
    s.claim_denied(true_norm);
    first = true;
  }
}

}  // namespace

void end_not_positive(SolveFrame& s, bool preconditioner, double value) {
  const char* product = preconditioner ? "r'M⁻¹r" : "p'Ap";
  if (value == 0 && s.best_norm() < 1e-140) {
    s.end(Reason::breakdown,
          fmt::format("{} underflowed to 0 in iteration {}; scale the system.", product, s.report.iterations + 1));
  } else if (preconditioner) {
    s.end(Reason::indefinite_pc, fmt::format("r'M⁻¹r = {:.3g} ≤ 0 in iteration {}: the preconditioner is not positive "
                                             "definite. Use ic or jacobi, or GMRES.",
                                             value, s.report.iterations + 1));
  } else {
    s.end(Reason::indefinite_matrix, fmt::format("p'Ap = {:.3g} ≤ 0 for the search direction of iteration {}: the matrix is "
                                                 "not positive definite. Use GMRES.",
                                                 value, s.report.iterations + 1));
  }
}

Report cg(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
          const KrylovOptions& options) {
  require_right_side("cg", options);
  const std::int64_t diagonals = options.cg_form == CgForm::plain ? 0 : queued_diagonals;
  const std::int64_t vectors = own_vectors + (A.device().is_host() ? 0 : queued_directions + diagonals);
  SolveFrame s("cg", A, b, x, M, options, 1, vectors * A.kept_size() * 8);
  s.stagnation_window = std::clamp(2 * s.n, shortest_window, longest_window);
  s.report.cg_form = "plain";
  if (s.ended()) return s.finish();
  const bool asked = options.cg_form == CgForm::eisenstat;
  const char* form = asked ? "the Eisenstat form" : nullptr;
  const bool may = options.cg_form != CgForm::plain, on_gpu = s.ops.on_gpu();
  if (const auto shared = may && !on_gpu ? s.shared_triangles(form) : nullptr) {
    run_eisenstat_cg(s, *shared);
  } else if (const auto queued = may && on_gpu ? s.queued_triangles(form) : nullptr) {
    run_queued_eisenstat_cg(s, *queued);
  } else if (on_gpu && !options.communicator) {
    run_queued_cg(s);
  } else {
    iterate(s);
  }
  return s.finish();
}

}  // namespace echelon
