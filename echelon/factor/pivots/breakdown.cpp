// SPDX-License-Identifier: BSD-3-Clause
// The policy as a short list of attempts. Every comparison is between quantities that scale alike with A, so that 2ᵏ·A
// takes the same way; every choice is made from the log in elimination order, so that threads do not matter.
#include "echelon/factor/pivots/shift_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/ordinal.hpp"
#include "echelon/factor/ilu_options.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {
namespace {

constexpr int most_doublings = 20;

std::string sentence(const std::string& name, const PivotNote& note) {
  const auto values = [&] {
    // The sign of a NaN says nothing and differs between processors.
    const double value = std::isnan(note.value) ? std::numeric_limits<double>::quiet_NaN() : note.value;
    return fmt::format("at row {} (value {:.6g}, row max {:.6g})", Ordinal{note.row}, value, note.row_norm);
  };
  switch (note.kind) {
    case PivotNote::Kind::zero: return fmt::format("{}: zero pivot {}", name, values());
    case PivotNote::Kind::tiny: return fmt::format("{}: tiny pivot {}", name, values());
    case PivotNote::Kind::negative: return fmt::format("{}: non-positive pivot {}", name, values());
    case PivotNote::Kind::nonfinite_input:
      return fmt::format("{}: the matrix holds NaN or Inf, first met at row {}", name, Ordinal{note.row});
    case PivotNote::Kind::overflow: return fmt::format("{}: overflow, the pivot is not finite {}", name, values());
  }
  return name;
}

class Judge {
 public:
  Judge(const std::string& name, PivotLog& log, const std::function<void(const Attempt&)>& factor,
        const std::function<double()>& growth, FactorReport& report)
      : name_(name), log_(log), factor_(factor), growth_(growth), report_(report) {}

  /// One factorization; true when it may be used. With boosts, bad pivots are no obstacle by themselves.
  bool attempt(const Attempt& attempt, double limit) {
    if (tried_) ++report_.shift_attempts;
    tried_ = true;
    log_.reset();
    factor_(attempt);
    keep_notes();
    report_.shift = attempt.shift;
    report_.perturbation = log_.relative_change();
    report_.perturbed_pivots = attempt.boost ? log_.count() : 0;
    report_.growth = 0;
    const bool pivots_fine = log_.count() == 0 || (attempt.boost && !log_.has_nonfinite());
    if (!pivots_fine) {
      why_ = sentence(name_, culprit());
      return false;
    }
    report_.growth = growth_();
    if (!(report_.growth <= limit)) {
      why_.clear();
      return false;
    }
    return true;
  }

  void fail(const std::string& more) {
    report_.ok = false;
    report_.message =
        why_.empty() ? fmt::format("{}: the factors are unstable, ‖(LU)⁻¹e‖·‖A‖ = {:.3g}", name_, report_.growth) : why_;
    report_.message += more;
  }

 private:
  /// The first note, but NaN or Inf in A before any pivot: it cannot be repaired.
  const PivotNote& culprit() const {
    for (const PivotNote& note : log_.first()) {
      if (note.kind == PivotNote::Kind::nonfinite_input) return note;
    }
    return log_.first().front();
  }

  /// Of the first attempt that met any: the later ones meet the same rows again.
  void keep_notes() {
    if (!report_.bad_pivots.empty()) return;
    // What follows a row of A with NaN in it is infected by it, not an overflow of the elimination.
    const bool infected = log_.has_nonfinite_input();
    for (const PivotNote& note : log_.first()) {
      report_.bad_pivots.push_back(note);
      auto& kind = report_.bad_pivots.back().kind;
      if (infected && kind == PivotNote::Kind::overflow) kind = PivotNote::Kind::nonfinite_input;
    }
  }

  const std::string& name_;
  PivotLog& log_;
  const std::function<void(const Attempt&)>& factor_;
  const std::function<double()>& growth_;
  FactorReport& report_;
  bool tried_ = false;
  std::string why_;
};

void say_what_happened(FactorReport& report) {
  if (report.shift_attempts > 0 && report.shift > 0) {
    report.remarks.push_back(fmt::format("factored A + {:.3g}·diag(row scale) after {} failed factorizations", report.shift,
                                         report.shift_attempts));
  } else if (report.perturbed_pivots > 0) {
    report.remarks.push_back(fmt::format("{} bad pivots were replaced, the first at row {}", report.perturbed_pivots,
                                         Ordinal{report.bad_pivots.front().row}));
  }
  if (report.growth > growth_remark) {
    report.remarks.push_back(
        fmt::format("‖(LU)⁻¹e‖·‖A‖ is about {:.3g}: the triangular solves may lose many digits", report.growth));
  }
}

/// The shifts to try, one after the other: first·stepⁱ, `count` of them.
struct Shifts {
  double first, step = 2;
  int count = most_doublings + 1;
  bool costly = false;
};

Shifts shifts_to_try(double first, const AttemptCost& cost) {
  if (!cost.operations || !(cost.operations() > costly_operations)) return {first};
  const double hint = cost.cheaper_shift ? cost.cheaper_shift() : 0;
  return {std::max(first, hint), costly_step, most_costly_shifts, true};
}

}  // namespace

void PivotLog::add(std::int64_t position, const PivotNote& note) {
  const std::lock_guard lock(mutex_);
  ++notes_.count;
  notes_.note_kind(note.kind);
  notes_.keep(position, note);
}

void factor_with_policy(const IluOptions& options, bool positive_definite, const std::string& name, PivotLog& log,
                        const std::function<void(const Attempt&)>& factor, const std::function<double()>& growth,
                        FactorReport& report, const AttemptCost& cost) {
  constexpr double finite = std::numeric_limits<double>::max();
  report.ok = false;
  report.message = name;  // in two steps: a refactorization takes no memory
  report.message += " was not finished";
  report.bad_pivots.clear();
  report.shift_attempts = 0;
  Judge judge(name, log, factor, growth, report);
  const auto finished = [&] {
    report.ok = true;
    report.message.clear();
  };
  if (options.shift != ShiftPolicy::automatic) {
    const double shift = options.shift == ShiftPolicy::value ? options.shift_value : 0;
    if (judge.attempt({shift, false}, finite)) {
      finished();
    } else {
      judge.fail("");
    }
  } else if (judge.attempt({0, !positive_definite}, growth_limit)) {
    finished();
  } else {
    // Without a bad pivot the growth may be that of badly scaled rows, which no shift cures: then A's own factors stay.
    const bool usable = log.count() == 0 && report.growth <= finite;
    bool repaired = false;
    const Shifts shifts = log.has_nonfinite_input() ? Shifts{options.first_shift} : shifts_to_try(options.first_shift, cost);
    double shift = shifts.first;
    for (int step = 0; step < shifts.count && !repaired && !log.has_nonfinite_input(); ++step) {
      if (step > 0) shift *= shifts.step;
      repaired = judge.attempt({shift, false}, growth_limit);
    }
    if (repaired || (usable && judge.attempt({0, false}, finite))) {
      finished();
    } else {
      judge.fail(log.has_nonfinite_input()
                     ? ""
                     : fmt::format("; {} shifts up to {:.3g} did not help{}", report.shift_attempts, shift,
                                   shifts.costly ? ", and at its cost no more were tried" : ""));
    }
  }
  if (report.ok) say_what_happened(report);
}

void factor_with_policy(const IluOptions& options, bool positive_definite, const std::string& name, PivotLog& log,
                        const std::function<void(const Attempt&)>& factor, const std::function<double()>& growth,
                        FactorReport& report) {
  factor_with_policy(options, positive_definite, name, log, factor, growth, report, AttemptCost{});
}

}  // namespace echelon
