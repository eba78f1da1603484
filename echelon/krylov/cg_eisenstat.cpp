// SPDX-License-Identifier: BSD-3-Clause
// CG in the form of Eisenstat (1981), for A = L + D_A + U and M = L̃ Ũ with L̃ = I + L D⁻¹, Ũ = D + U: with g = L̃⁻¹ r and
// p̂ = Ũ p the iterates are those of plain CG, and L̃⁻¹ A p = D p + y comes with the two sweeps (sweep/shared_triangles.hpp):
//   p̂ ← g + (ρ/ρ₋) p̂,  t = Ũ⁻¹ p̂,  y = L̃⁻¹(p̂ − (2D − D_A) t),  α = ρ / p̂'(t + D⁻¹y),  x ← x + α t,  g ← g − α (D t + y).
// ρ = g'D⁻¹g = r'M⁻¹r is at hand in every iteration, ‖r‖ = ‖L̃ g‖ costs a pass and is formed when NormWatch asks for it.
#include <cmath>

#include "echelon/krylov/cg_forms.hpp"
#include "echelon/krylov/norm_watch.hpp"

namespace echelon {

void run_eisenstat_cg(SolveFrame& s, SharedTriangles<double>& shared) {
  s.report.cg_form = "eisenstat";
  s.report.product = "none";
  // g lives where the frame keeps its residual: `check` writes b − A x there, and `start` makes g of it again.
  Vector<double>& g = s.residual;
  Vector<double> p_hat = s.vector(), t = s.vector(), y = s.vector();
  const double first_norm = s.ops.norm(s.residual);
  double rho = shared.start(s.residual, g), rho_before = 0;
  NormWatch watch;
  watch.start(first_norm, rho);
  bool first = true;
  while (!s.ended() && !s.at_limit()) {
    if (!std::isfinite(rho)) return s.end_nonfinite({{"L⁻¹r", &g}}, "r'M⁻¹r");
    if (rho <= 0) return end_not_positive(s, true, rho);
    shared.direction(g, first ? 0 : rho / rho_before, first, p_hat, t);
    first = false;
    const double curvature = shared.image(p_hat, t, y);
    if (!std::isfinite(curvature)) return s.end_nonfinite({{"p", &t}, {"A p", &y}}, "p'Ap");
    if (curvature <= 0) return end_not_positive(s, false, curvature);
    rho_before = rho;
    rho = shared.update(rho / curvature, t, y, s.x, g);
    double norm = watch.estimate(rho);
    if (!watch.holds(s, rho)) {
      norm = s.ops.norm_from_square(shared.residual(g, y), y);
      watch.reconstructed(norm, rho);
    }
    if (!s.count(norm)) return;
    if (!s.seems_converged(norm)) continue;
    const double true_norm = s.check();
    if (s.ended()) return;
    s.claim_denied(true_norm);
    rho = shared.start(s.residual, g);
    watch.start(true_norm, rho);
    first = true;
  }
}

}  // namespace echelon
