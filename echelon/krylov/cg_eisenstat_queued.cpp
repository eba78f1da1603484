// SPDX-License-Identifier: BSD-3-Clause
// CG in Eisenstat's form (cg_eisenstat.cpp) on a GPU, queued as in cg_queued.cpp: an iteration whole, and the next one's
// direction with its sweep behind it, before the host looks at ρ and p'Ap. For a symmetric A
//   p'Ap = t'((D + L) + (D + U) − K) t = 2 t'p̂ − t'K t,  K = 2D − D_A, t = Ũ⁻¹p̂,
// is known before the second sweep, with its right side y = p̂ − K t. x takes four steps at once, so the last t are kept.
// Vector bytes a row and iteration: 24 p̂, 32 y with p'Ap, 40 g with ρ, 10 x: 106, where plain CG has 74 and a product.
// ‖r‖ = ‖L̃ g‖ is formed when NormWatch asks for it.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "echelon/krylov/cg_forms.hpp"
#include "echelon/krylov/norm_watch.hpp"

namespace echelon {
namespace {

/// Slots of an iteration; as many iterations take turns as have steps that x may not have taken, this one and the next.
enum Slot { rho, curvature, slots };
constexpr int most_lagging = LaggingSteps::most - 1, turns = most_lagging + 2;

class QueuedEisenstatCg {
 public:
  QueuedEisenstatCg(SolveFrame& frame, QueuedTriangles<double>& shared)
      : s(frame),
        triangles(shared),
        sums(*frame.ops.on_gpu(), turns * slots),
        g(frame.residual),
        p_hat(frame.vector()),
        y(frame.vector()),
        inverse(frame.vector()),
        excess(frame.vector()) {
    for (auto& one : directions) one = frame.vector();
    triangles.diagonals(inverse, excess);
    sums.excess(inverse, excess);
  }

  void run() {
    start(s.ops.norm(s.residual));
    while (!s.ended() && !s.at_limit()) {
      queue_iteration();
      sums.set_mark();
      turn = next(turn);
      const bool ahead = !s.seems_converged(expected);
      if (ahead) direction();
      // ρ and p'Ap of the iteration, and the ρ it left.
      sums.await_mark(3);
      if (!judge()) break;
      const double norm = residual_norm(sums[slot(rho, turn)]);
      // The backward error is watched by ‖x‖.
      if (s.options.nrbe > 0) settle();
      if (!s.count(norm)) break;
      expected = norm < last ? norm / last * norm : norm;
      last = norm;
      if (s.seems_converged(norm)) {
        settle();
        const double true_norm = s.check();
        if (s.ended()) return;
        s.claim_denied(true_norm);
        start(true_norm);
      } else if (!ahead) {
        direction();
      }
    }
    settle();
  }

 private:
  static int next(int of) { return (of + 1) % turns; }
  static int before(int of) { return (of + turns - 1) % turns; }
  static int slot(Slot which, int of) { return slots * of + which; }
  Vector<double>& t() { return directions[now]; }

  /// From the frame's residual, which becomes g; the first direction is queued.
  void start(double norm) {
    triangles.lower(s.residual, g);
    sums.weighted_square(inverse, g, slot(rho, turn));
    p_hat.copy_from(g);
    next_t();
    start_norm = norm;
    starting = true;
    last = norm;
  }

  /// p̂ and t of the iteration to come.
  void direction() {
    sums.xpay(g, {slot(rho, turn), slot(rho, before(turn))}, p_hat);
    next_t();
  }
  /// In the place of one whose step x has taken.
  void next_t() {
    now = (now + 1) % directions.size();
    triangles.upper(p_hat, t());
  }

  /// From p̂ and t to x, g and the next ρ.
  void queue_iteration() {
    sums.eisenstat_right_side({excess.data(), p_hat.data(), t().data(), y.data()}, slot(curvature, turn));
    triangles.lower(y, y);
    const QueuedSums::Quotient alpha{slot(rho, turn), slot(curvature, turn)};
    const EisenstatUpdate to{inverse.data(), t().data(), y.data(), g.data()};
    if (lagging.size() < most_lagging) {
      sums.eisenstat_update(alpha, to, slot(rho, next(turn)));
      lagging.push_back({alpha, t().data()});
    } else {
      sums.eisenstat_update(alpha, to, lagging, s.x, slot(rho, next(turn)));
      lagging.clear();
    }
  }

  /// x of the last iteration that could be taken.
  void settle() {
    if (!lagging.empty()) sums.cg_solution(lagging, s.x);
    lagging.clear();
  }

  /// Whether the iteration that was queued could be taken; the frame has ended otherwise, and x and g are as they were.
  bool judge() {
    const double square = sums[slot(rho, before(turn))], bend = sums[slot(curvature, before(turn))];
    if (!std::isfinite(square)) {
      s.end_nonfinite({{"L⁻¹r", &g}}, "r'M⁻¹r");
    } else if (square <= 0) {
      end_not_positive(s, true, square);
    } else if (!std::isfinite(bend)) {
      s.end_nonfinite({{"p", &t()}, {"A p", &y}}, "p'Ap");
    } else if (bend <= 0) {
      end_not_positive(s, false, bend);
    } else {
      if (starting) watch.start(start_norm, square);
      starting = false;
      return true;
    }
    return false;
  }

  double residual_norm(double rho_now) {
    if (watch.holds(s, rho_now)) return watch.estimate(rho_now);
    triangles.lower_product(g, y);
    const double norm = s.ops.norm(y);
    watch.reconstructed(norm, rho_now);
    return norm;
  }

  SolveFrame& s;
  QueuedTriangles<double>& triangles;
  QueuedSums sums;
  // g lives where the frame keeps its residual: `check` writes b − A x there, and `start` makes g of it again.
  Vector<double>& g;
  Vector<double> p_hat, y, inverse, excess;
  std::array<Vector<double>, most_lagging + 1> directions;  // t of the last iterations
  std::vector<QueuedSums::LaggingStep> lagging;             // along some of them
  std::size_t now = 0;                                      // the last one
  NormWatch watch;
  int turn = 0;
  bool starting = true;  // the watch does not know ρ yet
  double start_norm = 0, last = 0, expected = std::numeric_limits<double>::infinity();
};

}  // namespace

void run_queued_eisenstat_cg(SolveFrame& s, QueuedTriangles<double>& triangles) {
  s.report.cg_form = "eisenstat";
  s.report.product = "none";
  QueuedEisenstatCg(s, triangles).run();
}

}  // namespace echelon
