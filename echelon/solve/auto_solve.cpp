// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/auto_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>

#include "echelon/base/error.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/work_budget.hpp"
#include "echelon/solve/gpu_system.hpp"
#include "echelon/solve/grid_form.hpp"

namespace echelon {
namespace {

bool all_finite(const Vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

bool is_zero(const Vector<double>& b) {
  return std::all_of(b.begin(), b.end(), [](double value) { return value == 0; });
}

/// Why --strict cannot take this set-up; empty when it can.
std::string forbidden_repair(const FactorReport& report, ShiftPolicy asked_for) {
  if (!report.ok) return report.message;
  if (report.missing_diagonals > 0)
    return fmt::format("{} missing diagonal entries were inserted", report.missing_diagonals);
  if (report.perturbed_pivots > 0) return fmt::format("{} pivots were replaced", report.perturbed_pivots);
  if (report.shift != 0 && asked_for != ShiftPolicy::value) return fmt::format("a diagonal shift of {:.3g}", report.shift);
  return {};
}

/// The state of one call: the ladder and the best attempt so far.
class Ladder {
 public:
  Ladder(const MatrixRef& A, const Vector<double>& b, Vector<double>& x, const SolveRequest& request)
      : A_(A), b_(b), x_(x), best_(x.size(), 0.0), request_(request), b_is_zero_(is_zero(b)) {}

  AutoOutcome climb() {
    const WorkWatch watch(request_.ask);
    try {
      list_rungs();
      for (std::size_t i = 0; i < rungs_.size(); ++i) {
        if (i > 0 && !worth_another(rungs_[i])) break;
        attempt(rungs_[i], i + 1 == rungs_.size());
        const auto reason = outcome_.report.reason;
        if (outcome_.report.converged || reason == Reason::interrupted || reason == Reason::time_limit ||
            reason == Reason::inconsistent) {
          break;
        }
      }
    } catch (const WorkStopped& stop) {
      end_early(stop.verdict(), rungs_.empty() ? AutoChoice{} : rungs_.front(), "the matrix was looked at");
    }
    finish();
    return std::move(outcome_);
  }

 private:
  void list_rungs() {
    if (const auto* csr = std::get_if<const BlockCsr<double>*>(&A_)) {
      outcome_.traits = traits_of(**csr);
    } else if (on_gpu()) {
      gpu_.emplace(A_, b_, request_.krylov.null_space, first_fill(), request_.device);
      outcome_.traits = gpu_->traits();
    } else {
      (void)as_operator(A_);  // refuses rows
      outcome_.traits = traits_of(*std::get<const StructMatrix<double>*>(A_));
    }
    rungs_ = auto_ladder(outcome_.traits, request_.wishes);
    if (request_.wishes.pc == "auto") {
      for (auto& rung : rungs_) {
        if (rung.options.ilu.most_operations == 0) rung.options.ilu.most_operations = setup_budget(nonzeros());
      }
    }
    if (!on_gpu()) return;
    for (const auto& rung : rungs_) look_for_a_grid(rung);
    leave_out_host_only();
  }

  std::int64_t nonzeros() const {
    if (const auto* csr = std::get_if<const BlockCsr<double>*>(&A_)) return (*csr)->nonzeros();
    if (const auto* grid = std::get_if<const StructMatrix<double>*>(&A_)) return (*grid)->nonzeros();
    const auto& rows = *std::get<std::shared_ptr<const RowSource>>(A_);
    return neighbours_inside(rows.grid(), rows.stencil().offsets()) * rows.dof() * rows.dof();
  }

  /// Once, and only when the answer is used.
  void look_for_a_grid(const AutoChoice& choice) {
    if (outcome_.looked_for_a_grid || !request_.recognise_stencils || !GridForm::concerns(choice)) return;
    const Timer clock;
    outcome_.looked_for_a_grid = true;
    grid_form_ = GridForm::of(A_);
    recognition_seconds_ = clock.seconds();
  }

  bool on_gpu() const { return !request_.device.is_host(); }
  bool on_grid_form(const AutoChoice& choice) const { return grid_form_ && grid_form_->suits(choice, outcome_.traits); }

  /// The matrix as this choice takes it.
  MatrixRef matrix_for(const AutoChoice& choice) const {
    return on_grid_form(choice) ? MatrixRef(&grid_form_->matrix()) : A_;
  }

  /// Made when it is first needed; each form of the matrix has its own.
  GpuSystem& gpu_for(const AutoChoice& choice) {
    auto& system = on_grid_form(choice) ? gpu_grid_form_ : gpu_;
    if (!system)
      system.emplace(matrix_for(choice), b_, request_.krylov.null_space, choice.options.ilu.fill, request_.device);
    return *system;
  }
  int first_fill() const {
    const AutoWishes& wishes = request_.wishes;
    return wishes.pc == "auto" || find_preconditioner(wishes.pc).takes_ilu_options ? wishes.options.ilu.fill : 0;
  }

  /// What the GPU's matrices have taken so far, which is no part of a set-up.
  double matrix_seconds() const {
    double sum = 0;
    for (const auto* system : {&gpu_, &gpu_grid_form_}) {
      if (*system) sum += (*system)->assembly_seconds() + (*system)->conversion_seconds();
    }
    return sum;
  }

  void leave_out_host_only() {
    std::string why;
    std::erase_if(rungs_, [&](const AutoChoice& choice) {
      const std::string found = host_only(choice, matrix_for(choice));
      if (why.empty()) why = found;
      return !found.empty();
    });
    if (rungs_.empty()) throw Error(ErrorCode::bad_option, fmt::format("nothing to solve with on a GPU: {}", why));
  }

  /// Without an iteration no rung is better than another. With a fixed preconditioner only the hand-over from CG to GMRES is
  /// left, and only for want of definiteness.
  bool worth_another(const AutoChoice&) const {
    if (request_.krylov.max_it == 0) return false;
    if (request_.wishes.pc == "auto") return true;
    const auto reason = last_reason_;
    return reason == Reason::indefinite_matrix || reason == Reason::indefinite_pc;
  }

  void attempt(const AutoChoice& choice, bool last) {
    look_for_a_grid(choice);
    if (request_.on_attempt) request_.on_attempt(choice);
    AttemptNote note;
    note.choice = choice;
    const Timer clock;
    const double before = matrix_seconds();
    std::unique_ptr<Preconditioner<double>> M;
    try {
      M = set_up(choice, note, last);
    } catch (const WorkStopped& stop) {
      end_early(stop.verdict(), choice, choice.name() + " was set up");
      note.outcome = word(outcome_.report.reason);
      note.message = "ended while it was set up";
    }
    const double both = clock.seconds();
    note.setup_seconds = both - (matrix_seconds() - before);
    if (!M) {
      outcome_.attempts.push_back(std::move(note));
      return;
    }
    Report report = run(choice, *M, last);
    report.preconditioner = M->report();
    if (on_grid_form(choice)) {
      report.recognised = grid_form_->name();
      report.remarks.push_back(grid_form_->sentence());
    }
    note.solve_seconds = clock.seconds() - both;
    note.outcome = report.converged ? "converged" : word(report.reason);
    note.message = report.message;
    note.iterations = report.iterations;
    note.relative_residual = report.relative_residual;
    note.history = report.history;
    outcome_.attempts.push_back(std::move(note));
    const bool narrow_levels = M->report().kind == PrecondKind::multilevel && M->report().precision != "fp64";
    const bool narrow = narrow_levels || choice.options.ilu.precision != Stored::fp64;
    const bool widen = !report.converged && !gave_up_ && narrow && is_for_want_of_precision(report.reason);
    keep_if_better(choice, std::move(report));
    if (!widen) return;
    AutoChoice wide = choice;
    wide.options.ilu.precision = Stored::fp64;
    wide.options.mg.precision = MgPrecision::fp64;
    wide.why = fmt::format("with {} stored in {} the solve ended by '{}': back to fp64",
                           narrow_levels ? "levels" : "factors", M->report().precision, word(last_reason_));
    attempt(wide, last);
    outcome_.report.remarks.push_back(wide.why);
  }

  /// What narrow factors may be to blame for; running out of iterations or of time is not it.
  static bool is_for_want_of_precision(Reason reason) {
    return reason == Reason::stagnated || reason == Reason::diverged || reason == Reason::breakdown ||
           reason == Reason::nan || reason == Reason::indefinite_pc;
  }

  /// Null when the set-up failed and the ladder goes on; the note says why.
  std::unique_ptr<Preconditioner<double>> set_up(const AutoChoice& choice, AttemptNote& note, bool last) {
    note.outcome = "not set up";
    note.set_up = false;
    std::unique_ptr<Preconditioner<double>> M;
    if (known_too_costly(choice)) {
      skip(choice, note, "less fill in this order would take more work already than a set-up is allowed");
      return nullptr;
    }
    try {
      M = on_gpu() ? gpu_for(choice).make(choice) : make_preconditioner(choice.pc, matrix_for(choice), choice.options);
    } catch (const TooCostly& error) {
      too_costly_.push_back(choice);
      skip(choice, note, error.what());
      return nullptr;
    } catch (const Error& error) {
      // A rung too big for this machine is skipped; the same for a single choice is the user's to know.
      if (last || request_.wishes.pc != "auto" || exit_status(error.code()) != 3) throw;
      note.message = error.what();
      return nullptr;
    } catch (const std::bad_alloc&) {
      if (last || request_.wishes.pc != "auto") throw;
      note.message = "memory ran out";
      return nullptr;
    }
    const auto& report = M->report();
    const auto repair = request_.strict && !b_is_zero_ ? forbidden_repair(report, choice.options.ilu.shift) : std::string();
    if (!repair.empty()) {
      note.message = fmt::format("--strict forbids the repair that {} needs: {}", choice.name(), repair);
      if (last || request_.wishes.pc != "auto") throw Error(ErrorCode::repair_forbidden, note.message);
      return nullptr;
    }
    note.set_up = report.ok;
    // b = 0 has its answer without it: the solver does not apply what could not be set up.
    if (report.ok || b_is_zero_) return M;
    note.message = report.message;
    if (!have_report_) {
      outcome_.report.reason = Reason::pc_failed;
      outcome_.report.solver = choice.solver;
      outcome_.report.message = report.message;
      outcome_.report.preconditioner = report;
      outcome_.report.nrbe = 1;
      outcome_.report.history = {1.0};
      outcome_.choice = choice;
    }
    last_reason_ = Reason::pc_failed;
    return nullptr;
  }

  /// More levels of fill on the same pattern in the same order cost more.
  bool known_too_costly(const AutoChoice& choice) const {
    const auto by_levels = [](const AutoChoice& one) { return find_preconditioner(one.pc).kind == PrecondKind::levels; };
    return std::ranges::any_of(too_costly_, [&](const AutoChoice& one) {
      return by_levels(one) && by_levels(choice) && one.options.match_rows == choice.options.match_rows &&
             one.options.ilu.ordering == choice.options.ilu.ordering && one.options.ilu.fill <= choice.options.ilu.fill;
    });
  }

  void skip(const AutoChoice& choice, AttemptNote& note, const std::string& why) {
    note.outcome = "skipped";
    note.message = "skipped: " + why;
    if (have_report_ || !outcome_.report.solver.empty()) return;
    start_report(choice, Reason::pc_failed);
    outcome_.report.message = why;
  }

  /// Of x = 0, before any attempt has come to an iterate.
  void start_report(const AutoChoice& choice, Reason reason) {
    const bool nothing_to_solve = std::ranges::all_of(b_, [](double value) { return value == 0; });
    outcome_.report = Report{};
    outcome_.report.solver = choice.solver;
    outcome_.report.reason = reason;
    outcome_.report.relative_residual = outcome_.report.nrbe = nothing_to_solve ? 0 : 1;
    outcome_.report.history = {1.0};
    outcome_.report.preconditioner.name = choice.pc;
    if (const auto* entry = look_up_preconditioner(choice.pc)) outcome_.report.preconditioner.kind = entry->kind;
    outcome_.report.preconditioner.ok = false;
    outcome_.choice = choice;
  }

  /// Told to stop between iterations: what is best so far is what the user gets.
  void end_early(Verdict verdict, const AutoChoice& choice, const std::string& during) {
    const auto reason = verdict == Verdict::time_limit ? Reason::time_limit : Reason::interrupted;
    if (!have_report_) start_report(choice, reason);
    Report& report = outcome_.report;
    report.reason = reason;
    report.converged = false;
    report.message =
        fmt::format("{} while {}, {}", verdict == Verdict::time_limit ? "the time limit was reached" : "interrupted", during,
                    have_report_ ? fmt::format("the returned iterate is that of {}", outcome_.choice.name())
                                 : "before the first iteration: x = 0 is returned");
    have_report_ = true;
  }

  Report run(const AutoChoice& choice, const Preconditioner<double>& M, bool last) {
    x_.fill(0);
    KrylovOptions options = request_.krylov;
    gave_up_ = false;
    const bool only_rtol = options.atol == 0 && options.nrbe == 0;
    if (request_.wishes.pc == "auto" && !last && only_rtol) {
      options.monitor = [&, user = request_.krylov.monitor](std::int64_t iteration, double residual) {
        const auto verdict = user ? user(iteration, residual) : Verdict::proceed;
        if (verdict != Verdict::proceed) return verdict;
        gave_up_ = looks_hopeless(iteration, residual, options.rtol, options.max_it);
        return gave_up_ ? Verdict::interrupt : Verdict::proceed;
      };
    }
    Report report = on_gpu() ? gpu_for(choice).solve(choice.solver, M, options, x_)
                             : solve(choice.solver, as_operator(matrix_for(choice)), b_, x_, M, options);
    gave_up_ = gave_up_ && !report.converged;
    if (gave_up_) {
      report.reason = Reason::stagnated;
      report.message = fmt::format("after {} iterations the residual falls too slowly to reach the tolerance within {}",
                                   report.iterations, options.max_it);
    }
    return report;
  }

  void keep_if_better(const AutoChoice& choice, Report report) {
    last_reason_ = report.reason;
    const bool usable = all_finite(x_) && std::isfinite(report.relative_residual);
    const bool ends = report.converged || report.reason == Reason::interrupted || report.reason == Reason::time_limit;
    if (!usable) {
      x_.fill(0);
      report.relative_residual = 1;
      report.nrbe = 1;
      report.remarks.emplace_back("the last iterate was not finite; x = 0 is returned");
    }
    // No residual is smaller than the part of b that is out of reach: what comes that far is the answer there is.
    const bool better = !have_report_ || report.converged || report.reason == Reason::inconsistent ||
                        report.relative_residual < outcome_.report.relative_residual;
    if (better) best_.copy_from(x_);
    if (!better && !ends) return;
    if (!better) {
      // Stopped from outside: the better iterate of an earlier attempt is what the user gets.
      report.relative_residual = outcome_.report.relative_residual;
      report.nrbe = outcome_.report.nrbe;
      report.remarks.push_back(fmt::format("the returned iterate is that of {}", outcome_.choice.name()));
    }
    outcome_.report = std::move(report);
    outcome_.choice = choice;
    have_report_ = true;
  }

  void finish() {
    x_.copy_from(best_);
    outcome_.report.setup_seconds = recognition_seconds_;
    outcome_.report.solve_seconds = 0;
    for (const auto& note : outcome_.attempts) {
      outcome_.report.setup_seconds += note.setup_seconds;
      outcome_.report.solve_seconds += note.solve_seconds;
    }
    for (const auto* system : {&gpu_, &gpu_grid_form_}) {
      if (!*system) continue;
      outcome_.report.assembly_seconds += (*system)->assembly_seconds();
      outcome_.report.conversion_seconds += (*system)->conversion_seconds();
    }
  }

  const MatrixRef& A_;
  const Vector<double>& b_;
  Vector<double>& x_;
  Vector<double> best_;
  const SolveRequest& request_;
  const bool b_is_zero_;
  std::optional<GridForm> grid_form_;
  std::optional<GpuSystem> gpu_, gpu_grid_form_;
  double recognition_seconds_ = 0;
  std::vector<AutoChoice> rungs_, too_costly_;
  AutoOutcome outcome_;
  bool gave_up_ = false;  // the last solve was left because it was too slow
  bool have_report_ = false;
  Reason last_reason_ = Reason::max_it;
};

}  // namespace

AutoOutcome solve_automatically(const MatrixRef& A, const Vector<double>& b, Vector<double>& x,
                                const SolveRequest& request) {
  return Ladder(A, b, x, request).climb();
}

}  // namespace echelon
