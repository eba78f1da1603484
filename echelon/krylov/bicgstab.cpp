// SPDX-License-Identifier: BSD-3-Clause
// Right-preconditioned BiCGStab (van der Vorst 1992) with shadow vector r̃: ρ = r̃'r, α = ρ/r̃'v, s = r − α v, ω = t's/t't.
// Each of ρ, r̃'v and t's is compared with the norms it is made of: one that is rounding error is a breakdown. Then the
// residual is recomputed and a new shadow vector taken, at most 3 times; after that GMRES goes on from the same x.
// Vector bytes a row and iteration: 16 r̃'v, 32 p, 24 s, 16 t's and t't, 72 x and r with r̃'r and r'r.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/memory.hpp"
#include "echelon/krylov/drawn_vector.hpp"
#include "echelon/krylov/gmres_cycles.hpp"

namespace echelon {
namespace {

constexpr std::int64_t own_vectors = 6;
constexpr int shadow_changes_allowed = 3;
/// An inner product this much below the product of the norms is rounding error.
constexpr double breakdown_below = 1e-14;
constexpr std::int64_t shortest_window = 500, longest_window = 20000;

struct Vectors {
  explicit Vectors(SolveFrame& f)
      : r(f.residual),
        shadow(f.vector()),
        p(f.vector()),
        v(f.vector()),
        t(f.vector()),
        p_hat(f.vector()),
        s_hat(f.vector()) {}
  Vector<double>& r;  // the frame's, until `check` writes b − A x there
  Vector<double> shadow, p, v, t, p_hat, s_hat;
};

bool negligible(double product, double norm_a, double norm_b) {
  return std::fabs(product) <= breakdown_below * norm_a * norm_b;
}

/// Iterates from the frame's residual with the shadow vector given. Empty when the solve ended; otherwise what broke down.
std::string iterate(SolveFrame& f, Vectors& u) {
  double norm_shadow = f.ops.norm(u.shadow);
  double norm_r = f.ops.norm(u.r), rho = f.ops.dot(u.shadow, u.r);
  double rho_before = 1, alpha = 1, omega = 1;
  bool first = true;
  const auto broke = [&](const char* what) {
    return fmt::format("{} vanished in iteration {}", what, f.report.iterations + 1);
  };
  while (!f.at_limit()) {
    if (!std::isfinite(rho)) return f.end_nonfinite({{"r", &u.r}}, "r̃'r"), "";
    if (negligible(rho, norm_shadow, norm_r)) return broke("r̃'r");
    if (first) {
      u.p.copy_from(u.r);
    } else {
      f.ops.bicgstab_direction(rho / rho_before * (alpha / omega), omega, u.r, u.v, u.p);
    }
    first = false;
    f.precondition(u.p, u.p_hat);
    f.multiply(u.p_hat, u.v);
    // {v·r̃, v·v}
    const auto [shadow_v, v_square] = f.ops.dot_and_square(u.v, u.shadow);
    const double norm_v = f.ops.norm_from_square(v_square, u.v);
    if (!std::isfinite(shadow_v) || !std::isfinite(norm_v)) {
      return f.end_nonfinite({{"p", &u.p}, {"M⁻¹p", &u.p_hat}, {"A M⁻¹p", &u.v}}, "r̃'A M⁻¹p"), "";
    }
    if (negligible(shadow_v, norm_shadow, norm_v)) return broke("r̃'A M⁻¹p");
    alpha = rho / shadow_v;
    const double norm_s = f.ops.norm_from_square(f.ops.subtract(alpha, u.v, u.r), u.r);
    if (!std::isfinite(norm_s)) return f.end_nonfinite({{"s", &u.r}}, "‖s‖"), "";
    bool claims = f.seems_converged(norm_s);
    if (claims) {
      f.ops.axpy(alpha, u.p_hat, f.x);
      norm_r = norm_s;
    } else {
      f.precondition(u.r, u.s_hat);
      f.multiply(u.s_hat, u.t);
      // {t·s, t·t}
      const auto [ts, t_square] = f.ops.dot_and_square(u.t, u.r);
      const double norm_t = f.ops.norm_from_square(t_square, u.t);
      if (!std::isfinite(ts) || !std::isfinite(norm_t)) {
        return f.end_nonfinite({{"M⁻¹s", &u.s_hat}, {"A M⁻¹s", &u.t}}, "s'A M⁻¹s"), "";
      }
      if (negligible(ts, norm_t, norm_s)) {
        // The half step is good; only the stabilisation is lost.
        f.ops.axpy(alpha, u.p_hat, f.x);
        return broke("s'A M⁻¹s");
      }
      omega = ts / norm_t / norm_t;
      const auto [shadow_r, r_square] = f.ops.bicgstab_update(
          {alpha, omega, u.p_hat.data(), u.s_hat.data(), u.t.data(), u.shadow.data(), f.x.data(), u.r.data()});
      norm_r = f.ops.norm_from_square(r_square, u.r);
      rho_before = rho;
      rho = shadow_r;
      claims = f.seems_converged(norm_r);
    }
    if (!f.count(norm_r)) return "";
    if (!claims) continue;
    norm_r = f.check();
    if (f.ended()) return "";
    f.claim_denied(norm_r);
    if (f.ended()) return "";
    u.shadow.copy_from(u.r);
    norm_shadow = norm_r;
    rho = f.ops.dot(u.shadow, u.r);
    first = true;
  }
  return "";
}

void solve_by_bicgstab(SolveFrame& f) {
  Vectors u(f);
  u.shadow.copy_from(f.residual);
  for (int attempt = 0;; ++attempt) {
    const std::string broken = iterate(f, u);
    if (f.ended()) return;
    f.check();
    if (f.ended()) return;
    ++f.report.restarts;
    if (attempt == shadow_changes_allowed) {
      const std::int64_t bytes = gmres_bytes(f.n, f.options, false), there = available_bytes(f.device());
      if (bytes > there) {
        f.end(Reason::breakdown,
              fmt::format("{} with {} shadow vectors, and GMRES({}) would need {} of the {} that are free; "
                          "use a smaller restart.",
                          broken, shadow_changes_allowed + 1, gmres_columns(f.rows(), f.options), human_bytes(bytes),
                          human_bytes(there)));
        return;
      }
      f.report.remarks.push_back(fmt::format("BiCGStab: {}; after {} new shadow vectors GMRES({}) took over.", broken,
                                             shadow_changes_allowed, gmres_columns(f.rows(), f.options)));
      return;
    }
    f.report.remarks.push_back(fmt::format("BiCGStab: {}; restarted with a new shadow vector.", broken));
    f.assign(u.shadow, drawn_vector(f.rows(), attempt));
  }
}

}  // namespace

Report bicgstab(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
                const KrylovOptions& options) {
  require_right_side("bicgstab", options);
  SolveFrame f("bicgstab", A, b, x, M, options, gmres_columns(A.rows(), options), own_vectors * A.kept_size() * 8);
  f.stagnation_window = std::clamp(2 * f.n, shortest_window, longest_window);
  if (!f.ended()) solve_by_bicgstab(f);
  if (!f.ended()) run_gmres(f, false);
  return f.finish();
}

}  // namespace echelon
