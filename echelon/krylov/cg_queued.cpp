// SPDX-License-Identifier: BSD-3-Clause
// Plain CG (cg.cpp) on a GPU: α and β are quotients that never leave it, so an iteration is queued whole, and M⁻¹r of the
// next one behind it before the host looks at ρ, p'Ap and r'r. The same iterates as by cg.cpp's loop; where that would stop
// before x and r change, the GPU leaves them unchanged. x follows some iterations later, by four steps at once, and p'Ap
// comes with the product where that can (DottedProduct): 74 bytes a row of vector work instead of 104; whoever looks at x
// has it settled first. The M⁻¹r in advance is lost when the iteration was the last one, so it is left out when the
// residual, falling as it did, would arrive.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "echelon/krylov/cg_forms.hpp"

namespace echelon {
namespace {

/// Slots of an iteration; as many iterations take turns as have steps that x may not have taken, and one more.
enum Slot { rho, curvature, square, slots };
constexpr int most_lagging = LaggingSteps::most, turns = most_lagging + 1;

class QueuedCg {
 public:
  explicit QueuedCg(SolveFrame& frame)
      : s(frame),
        sums(*frame.ops.on_gpu(), turns * slots),
        r(frame.residual),
        z(frame.vector()),
        q(frame.vector()),
        dotted(frame.dotted_product()),
        parts(dotted ? dotted->dot_parts() : 0, frame.device()) {
    for (auto& one : directions) one = frame.vector();
  }

  void run() {
    prepare();
    while (!s.ended() && !s.at_limit()) {
      queue_iteration();
      sums.set_mark();
      turn = next(turn);
      const bool ahead = !s.seems_converged(expected);
      if (ahead) prepare();
      sums.await_mark(slots);
      const double norm = judge(slots * before(turn));
      // The backward error is watched by ‖x‖.
      if (s.ended() || s.options.nrbe > 0) settle();
      if (s.ended() || !s.count(norm)) break;
      expected = norm < last ? norm / last * norm : norm;
      last = norm;
      first = s.seems_converged(norm);
      if (first) {
        settle();
        last = s.check();
        if (s.ended()) return;
        s.claim_denied(last);
      }
      if (first || !ahead) prepare();
    }
    settle();
  }

 private:
  static int next(int of) { return (of + 1) % turns; }
  static int before(int of) { return (of + turns - 1) % turns; }
  static int slot(Slot which, int of) { return slots * of + which; }
  /// α
  static QueuedSums::Quotient step_of(int of) { return {slot(rho, of), slot(curvature, of)}; }

  /// z = M⁻¹r and ρ = r'z of the iteration to come.
  void prepare() {
    s.precondition(r, z);
    sums.dot(r, z, slot(rho, turn));
  }

  void queue_iteration() {
    const QueuedSums::Quotient beta{slot(rho, turn), slot(rho, before(turn))};
    const auto& last_p = directions[now];
    now = (now + 1) % most_lagging;
    auto& p = directions[now];
    if (first) {
      p.copy_from(z);
    } else if (lagging.size() < most_lagging) {
      sums.cg_direction(beta, z, last_p, p);
    } else {
      sums.cg_direction(beta, z, p, lagging, s.x);
      lagging.clear();
    }
    first = false;
    if (parts.size() > 0) {
      dotted->apply_and_dot(p, q, parts.data());
      sums.add_parts(parts, slot(curvature, turn));
    } else {
      s.multiply(p, q);
      sums.dot(p, q, slot(curvature, turn));
    }
    sums.cg_residual(step_of(turn), q, r, slot(square, turn));
    lagging.push_back({step_of(turn), p.data()});
  }

  /// x of the last iteration; the directions are still there.
  void settle() {
    if (!lagging.empty()) sums.cg_solution(lagging, s.x);
    lagging.clear();
  }

  /// The residual norm, or the end, from the sums that begin at `at`.
  double judge(int at) {
    if (!std::isfinite(sums[at + rho])) {
      s.end_nonfinite({{"r", &r}, {"M⁻¹r", &z}}, "r'M⁻¹r");
    } else if (sums[at + rho] <= 0) {
      end_not_positive(s, true, sums[at + rho]);
    } else if (!std::isfinite(sums[at + curvature])) {
      s.end_nonfinite({{"p", &directions[now]}, {"A p", &q}}, "p'Ap");
    } else if (sums[at + curvature] <= 0) {
      end_not_positive(s, false, sums[at + curvature]);
    } else {
      return s.ops.norm_from_square(sums[at + square], r);
    }
    return 0;
  }

  SolveFrame& s;
  QueuedSums sums;
  Vector<double>& r;
  Vector<double> z, q;
  const DottedProduct* dotted;
  Array<double> parts;  // of p'Ap; empty where the product gives none
  std::array<Vector<double>, most_lagging> directions;
  std::vector<QueuedSums::LaggingStep> lagging;  // along some of them
  std::size_t now = 0;                           // the last direction
  int turn = 0;
  bool first = true;
  double last = 0, expected = std::numeric_limits<double>::infinity();
};

}  // namespace

void run_queued_cg(SolveFrame& s) { QueuedCg(s).run(); }

}  // namespace echelon
