// SPDX-License-Identifier: BSD-3-Clause
#include "cli/next_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "echelon/precond/registry.hpp"

namespace echelon::cli {
namespace {

/// It asks the least of a matrix.
std::string simplest_preconditioner() {
  for (const auto& entry : preconditioners()) {
    if (entry.kind == PrecondKind::diagonal) return entry.name;
  }
  return {};
}

class Advice {
 public:
  explicit Advice(const RunReport& run) : run_(run), pc_(run.result.preconditioner) {}

  std::string sentence() {
    const auto& solver = run_.result.solver;
    switch (run_.result.reason) {
      case Reason::max_it:
        say("raise --max-it");
        stronger();
        break;
      case Reason::stagnated:
        if (solver == "gmres" || solver == "fgmres") say("raise --restart");
        if (run_.automatic) say("raise --max-it");
        stronger();
        break;
      case Reason::breakdown:
        if (solver != "gmres") say("try --solver gmres");
        stronger();
        break;
      case Reason::indefinite_matrix: say("the matrix is not positive definite: --solver gmres"); break;
      case Reason::indefinite_pc:
        say("the preconditioner is not positive definite: --solver gmres");
        if (!tried_simplest()) say(fmt::format("--pc {}", simplest_));
        break;
      case Reason::nan:
        say("look at the matrix with echelon check");
        shifted();
        if (!tried_simplest()) say(fmt::format("try --pc {}", simplest_));
        break;
      case Reason::pc_failed:
        if (not_finite()) {
          say("correct what is no number in the matrix: echelon check names it");
          break;
        }
        if (repairs_were_off()) say("let the pivots be repaired (--shift auto)");
        if (!run_.automatic) say("try --pc auto");
        if (!tried_simplest()) say(fmt::format("try --pc {}", simplest_));
        if (steps_.empty()) say("look at the matrix with echelon check");
        break;
      case Reason::diverged:
        stronger();
        shifted();
        break;
      case Reason::interrupted: say(kept()); break;
      case Reason::time_limit:
        say(kept());
        say("raise --time-limit");
        break;
      case Reason::inconsistent:
        say("take the part along the null vector out of b, or keep x as the least-squares solution");
        break;
      default: break;
    }
    return fmt::format("{}", fmt::join(steps_, "; "));
  }

 private:
  void say(std::string step) { steps_.push_back(std::move(step)); }

  /// "gmres with jacobi" among the attempts, or the one preconditioner of a run without a ladder.
  bool tried_simplest() const {
    return pc_.name == simplest_ || std::ranges::any_of(run_.attempts, [&](const AttemptSummary& attempt) {
             return attempt.name.find(" with " + simplest_) != std::string::npos;
           });
  }

  /// An elimination, and so one that more levels make stronger.
  bool eliminates_by_levels() const { return pc_.kind == PrecondKind::levels && pc_.factor_sweeps == 0 && pc_.colours == 0; }

  void stronger() {
    if (run_.automatic) return say("no rung of --pc auto helped: look at the matrix with echelon check");
    say(eliminates_by_levels() ? fmt::format("take a stronger preconditioner (--pc auto, --fill {})", pc_.fill + 1)
                               : std::string("take a stronger preconditioner (--pc auto)"));
  }

  void shifted() {
    if (has_factors(pc_.kind) && pc_.shift == 0 && !run_.automatic) say("try --shift 0.1");
  }

  /// The search leaves its attempts in the report; a shift that was given is one the user can vary.
  bool repairs_were_off() const { return has_factors(pc_.kind) && pc_.shift_attempts == 0 && !pc_.bad_pivots.empty(); }

  /// No shift and no other method helps then.
  bool not_finite() const {
    return std::ranges::any_of(pc_.bad_pivots,
                               [](const PivotNote& note) { return note.kind == PivotNote::Kind::nonfinite_input; });
  }

  std::string kept() const {
    return run_.attempts.empty() || run_.result.iterations == 0 ? "there was no iterate yet"
                                                                : "the best iterate so far was kept";
  }

  const RunReport& run_;
  const FactorReport& pc_;
  const std::string simplest_ = simplest_preconditioner();
  std::vector<std::string> steps_;
};

}  // namespace

std::string next_step(const RunReport& run) { return Advice(run).sentence(); }

}  // namespace echelon::cli
