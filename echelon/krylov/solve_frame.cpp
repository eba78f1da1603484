// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/solve_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/krylov/drawn_vector.hpp"
#include "echelon/krylov/null_vector.hpp"
#include "echelon/krylov/range_scale.hpp"

namespace echelon {
namespace {

/// Iterations whose residual is kept: taken before the first one, so that an iteration allocates nothing.
constexpr std::int64_t history_limit = std::int64_t{1} << 20;
/// A claim of convergence that was denied must halve the true residual at least once in so many.
constexpr int futile_claims_allowed = 3;
constexpr std::int64_t denied_claims_allowed = 100;
/// What is left of a right-hand side inside the null space, relative to its norm, that counts as nothing.
constexpr double rounding_of_projection = 1e-15;
/// Iterations between two looks at ‖x‖ for the backward error.
constexpr std::int64_t backward_error_interval = 4;
constexpr double worth_asking_bytes = 1 << 20;

void require_place(const char* what, Device device, Device expected) {
  if (device == expected) return;
  throw Error(ErrorCode::device,
              fmt::format("mixing places: {} is on {}, the matrix on {}", what, device.name(), expected.name()));
}

void require_size(const char* what, std::int64_t got, std::int64_t expected) {
  if (got == expected) return;
  throw Error(ErrorCode::size_mismatch, fmt::format("{} has {} elements and the matrix has {} rows", what, got, expected));
}

void require_finite(const char* what, const Vector<double>& v) {
  for (std::int64_t i = 0; i < v.size(); ++i) {
    if (!std::isfinite(v[i])) {
      throw Error(ErrorCode::nonfinite_value, fmt::format("{} must be finite; element {} is {}", what, Ordinal{i}, v[i]));
    }
  }
}

void clear(Vector<double>& v) {
  if (v.device().is_host()) {
    v.fill(0);
  } else {
    cuda_backend()->fill(v.device().index, v.data(), v.size(), 0);
  }
}

void require_option(bool legal, const char* name, double got, const char* expected) {
  if (!legal) throw Error(ErrorCode::bad_argument, fmt::format("{} is {}; legal is {}", name, got, expected));
}

}  // namespace

void require_right_side(const char* solver, const KrylovOptions& options) {
  if (options.side == Side::right) return;
  throw Error(ErrorCode::bad_argument, fmt::format("{} preconditions from the right; only gmres can from the left", solver));
}

SolveFrame::SolveFrame(const char* solver, const Operator<double>& A, const V& b, V& x_in, const Preconditioner<double>& M,
                       const KrylovOptions& options_in, int basis_columns, std::int64_t method_bytes)
    : options(options_in),
      n(A.kept_size()),
      x(A.has_own_order() ? kept_x_ : x_in),
      ops(A.kept_size(), basis_columns, options_in.communicator ? *options_in.communicator : serial(), A.device()),
      A_(A),
      M_(M),
      user_x_(x_in),
      transfers_before_(transfer_counts()),
      b_(&b) {
  check_input(b);
  const std::int64_t kept = std::min(options.max_it, history_limit) + 1;
  const int vectors = (options.null_space ? 3 : 2) + (A.has_own_order() ? 3 : 0);
  const double own = 8.0 * vectors * static_cast<double>(n) + 8.0 * static_cast<double>(kept);
  const double bytes = static_cast<double>(method_bytes) + own;
  if (bytes > worth_asking_bytes) {
    require_memory(saturated_bytes(bytes), fmt::format("{} with {} rows", solver, A.rows()), device());
  }
  if (A.has_own_order()) {
    kept_x_ = vector();
    kept_b_ = vector();
    A.keep(x_in, kept_x_);
    A.keep(b, kept_b_);
    b_ = &kept_b_;
  }
  check_finite("b", b, *b_);
  check_finite("the initial guess", x_in, x);
  report.solver = solver;
  report.preconditioner = M.report();
  report.history.reserve(static_cast<std::size_t>(kept));
  residual = vector();
  best_x_ = vector();
  if (options.null_space) set_null_space();
  if (options.nrbe > 0) norm_A_ = A.norm_inf();
  if (options.nrbe > 0 && std::isnan(norm_A_)) {
    throw Error(ErrorCode::bad_argument, "nrbe was asked for and the matrix does not know its norm (norm_inf is NaN)");
  }
  set_scale();
  target_ = std::max(options.rtol * norm_b_, atol_);
  apparent_target_ = target_;
  if (norm_b_ == 0) clear(x);
  if (splits_) split_right_side();

  best_norm_ = std::numeric_limits<double>::infinity();
  best_x_.copy_from(x);
  first_norm_ = check();
  window_norm_ = first_norm_;
  if (std::isfinite(first_norm_)) report.history.push_back(norm_b_ > 0 ? first_norm_ / norm_b_ : first_norm_);
  if (!ended_ && !report.preconditioner.ok) {
    end(Reason::pc_failed, fmt::format("The preconditioner {} could not be set up: {}", report.preconditioner.name,
                                       report.preconditioner.message));
  }
}

void SolveFrame::check_input(const V& b) const {
  require_place("b", b.device(), device());
  require_place("x", user_x_.device(), device());
  require_size("b", b.size(), A_.rows());
  require_size("x", user_x_.size(), A_.rows());
  require_option(options.rtol >= 0 && std::isfinite(options.rtol), "rtol", options.rtol, "a finite number ≥ 0");
  require_option(options.atol >= 0 && std::isfinite(options.atol), "atol", options.atol, "a finite number ≥ 0");
  require_option(options.nrbe >= 0 && std::isfinite(options.nrbe), "nrbe", options.nrbe, "a finite number ≥ 0");
  require_option(options.max_it >= 0, "max_it", static_cast<double>(options.max_it), "≥ 0");
  require_option(options.restart >= 1, "restart", options.restart, "≥ 1");
  require_option(options.divergence >= 1, "divergence", options.divergence, "≥ 1");
  if (options.null_space) {
    require_place("the null vector", options.null_space->device(), device());
    require_size("the null vector", options.null_space->size(), A_.rows());
  }
}

/// A GPU says whether all is finite; where not, the host finds the element.
void SolveFrame::check_finite(const char* what, const V& natural, const V& kept) {
  if (device().is_host()) return require_finite(what, natural);
  if (!std::isfinite(ops.largest(kept))) require_finite(what, natural.to(Device::host()));
}

SolveFrame::V SolveFrame::vector() const {
  V made(n, device());
  if (A_.has_own_order()) clear(made);
  return made;
}

void SolveFrame::assign(V& v, const V& natural) const {
  if (device().is_host()) {
    A_.keep(natural, v);
  } else {
    A_.keep(natural.to(device()), v);
  }
}

void SolveFrame::set_scale() {
  atol_ = options.atol;
  norm_b_ = ops.norm(*b_);
  if (norm_b_ == 0 || in_ordinary_range(norm_b_)) return;
  if (norm_A_ == 0) norm_A_ = A_.norm_inf();
  exponent_ = range_exponent(ops.largest(*b_), norm_A_);
  if (exponent_ == 0) return;
  require_memory(8 * n, "a scaled right-hand side", device());
  if (b_ != &kept_b_) kept_b_ = b_->clone();
  b_ = &kept_b_;
  scale(kept_b_, -exponent_);
  norm_b_ = ops.norm(kept_b_);
  if (!std::isfinite(std::ldexp(norm_b_, exponent_))) {
    throw Error(ErrorCode::nonfinite_value, "b is finite but ‖b‖ is not: it is too large for a double; scale the system");
  }
  atol_ = scaled_down_to(options.atol, exponent_);
  scale(x, -exponent_);
  // Written so that an overflow is too large, too.
  if (ops.largest(x) <= largest_scaled_guess) return;
  clear(x);
  report.remarks.emplace_back("The initial guess was left out: beside b it is too large for any of its digits to count.");
}

void SolveFrame::scale(V& v, int exponent) {
  clear(residual);
  // In two steps, since 2ᵏ itself may be no double; only the second can round.
  for (const int part : {exponent / 2, exponent - exponent / 2}) ops.xpay(residual, std::ldexp(1.0, part), v);
}

/// With any other vector the projected system would be a different one, and its solution no answer to the user's.
void SolveFrame::set_null_space() {
  null_vector_ = vector();
  A_.keep(*options.null_space, null_vector_);
  check_finite("the null vector", *options.null_space, null_vector_);
  const double length = ops.norm(null_vector_);
  if (length == 0) throw Error(ErrorCode::bad_argument, "the null vector is zero");
  auto unit = options.null_space->to(Device::host());
  for (double& value : unit) value /= length;
  assign(null_vector_, unit);
  const NullVectorFinding found = judge_null_vector(A_, null_vector_, ops, residual, best_x_);
  if (!found.accepted) throw Error(ErrorCode::bad_argument, found.sentence);
  projected_ = true;
  assign(best_x_, drawn_vector(rows(), 0));
  splits_ = is_left_null_vector(A_, null_vector_, best_x_, ops, residual);
  if (splits_) return;
  report.inconsistent_part = std::numeric_limits<double>::quiet_NaN();
  report.remarks.emplace_back(
      "The null space was projected out of x. It is not that of the transposed matrix, so what part of b is out of reach is "
      "not known, and b was left as it is.");
}

/// b = reachable + what lies along the null vector.
void SolveFrame::split_right_side() {
  V& reachable = best_x_;
  reachable.copy_from(*b_);
  out_of_reach_ = std::fabs(ops.dot(null_vector_, reachable));
  project(reachable);
  // The second projection takes what the rounding of the first left behind.
  project(reachable);
  const double norm = ops.norm(reachable);
  // Its own bits of b may be all that is left.
  if (norm <= rounding_of_projection * static_cast<double>(n) * norm_b_) clear(x);
  inconsistent_ = out_of_reach_ > target_;
  if (inconsistent_) {
    const double attainable = rounding_of_projection * std::sqrt(static_cast<double>(n)) * norm_b_;
    reachable_target_ = std::max({options.rtol * norm, atol_, attainable});
    apparent_target_ = reachable_target_;
  } else {
    apparent_target_ = std::sqrt((target_ - out_of_reach_) * (target_ + out_of_reach_));
  }
  report.inconsistent_part = norm_b_ > 0 ? out_of_reach_ / norm_b_ : 0;
  report.remarks.push_back(
      fmt::format("The null space was projected out of x; the part of b along it, which no x can reach, is {:.3g} of ‖b‖{}.",
                  report.inconsistent_part, inconsistent_ ? "" : ", below the tolerance"));
}

/// After it v may still hold rounding of its length along the null vector.
void SolveFrame::project(V& v) { ops.axpy(-ops.dot(null_vector_, v), null_vector_, v); }

void SolveFrame::multiply(const V& p, V& q) { A_.apply(p, q); }

void SolveFrame::precondition(const V& r, V& z) {
  M_.apply(r, z);
  if (projected_) project(z);
}

std::unique_ptr<SharedTriangles<double>> SolveFrame::shared_triangles(const char* form) const {
  auto found = alone() ? M_.shared_triangles(A_) : nullptr;
  if (!found && form) refuse_form(form);
  return found;
}

std::unique_ptr<QueuedTriangles<double>> SolveFrame::queued_triangles(const char* form) const {
  auto found = alone() ? M_.queued_triangles(A_) : nullptr;
  if (!found && form) refuse_form(form);
  return found;
}

void SolveFrame::refuse_form(const char* form) const {
  throw Error(
      ErrorCode::bad_argument,
      fmt::format("{} needs an ILU(0) or IC(0) of this very matrix whose triangles are the matrix' own (star5, star7 "
                  "and the like, one unknown a point, natural order){}",
                  form, alone() ? "" : ", without a null space or a communicator"));
}

void SolveFrame::end(Reason reason, std::string message) {
  ended_ = true;
  report.reason = reason;
  report.message = std::move(message);
}

bool SolveFrame::at_limit() {
  if (report.iterations < options.max_it) return false;
  end(Reason::max_it,
      fmt::format("{} iterations were not enough; allow more, or use a stronger preconditioner.", options.max_it));
  return true;
}

bool SolveFrame::count(double norm) {
  const std::int64_t iteration = ++report.iterations;
  const double relative = norm_b_ > 0 ? norm / norm_b_ : norm;
  if (!std::isfinite(norm)) {
    end(Reason::nan, fmt::format("The residual norm became non-finite in iteration {}.", iteration));
    return false;
  }
  if (report.history.size() < report.history.capacity()) {
    report.history.push_back(relative);
  } else {
    history_full_ = true;
  }
  if (norm < 0.99 * window_norm_) {
    window_norm_ = norm;
    window_start_ = iteration;
  }
  // A short recurrence keeps x current, so the backward error can be watched; GMRES knows ‖x‖ at its restarts.
  if (options.nrbe > 0 && stagnation_window > 0 && iteration % backward_error_interval == 0) {
    watch_backward_error(ops.norm(x));
  }
  if (options.monitor) {
    const Verdict verdict = options.monitor(iteration, relative);
    if (verdict == Verdict::interrupt) end(Reason::interrupted, fmt::format("Interrupted in iteration {}.", iteration));
    if (verdict == Verdict::time_limit) {
      end(Reason::time_limit, fmt::format("The time limit was reached in iteration {}.", iteration));
    }
  }
  if (!ended_ && norm > options.divergence * first_norm_) {
    end(Reason::diverged, fmt::format("The residual grew to {:.3g} times its first value by iteration {}; use another "
                                      "preconditioner or GMRES.",
                                      norm / first_norm_, iteration));
  }
  if (!ended_ && options.stagnation_test && stagnation_window > 0 && iteration - window_start_ >= stagnation_window) {
    end(Reason::stagnated, fmt::format("The residual did not fall by 1 % in {} iterations; use another preconditioner or "
                                       "GMRES.",
                                       stagnation_window));
  }
  return !ended_;
}

double SolveFrame::true_residual() {
  if (projected_) project(x);
  A_.careful_residual(*b_, x, residual);
  return ops.norm(residual);
}

bool SolveFrame::meets(double norm, double norm_x, Reason& reason) const {
  if (norm <= options.rtol * norm_b_) {
    reason = Reason::rtol;
  } else if (norm <= atol_) {
    reason = Reason::atol;
  } else if (options.nrbe > 0 && norm <= options.nrbe * (norm_b_ + norm_A_ * norm_x)) {
    reason = Reason::nrbe;
  } else {
    return false;
  }
  return true;
}

void SolveFrame::watch_backward_error(double norm_x) {
  if (inconsistent_) return;
  apparent_target_ = std::max(target_, options.nrbe * (norm_b_ + norm_A_ * norm_x));
}

double SolveFrame::check() {
  M_.settle();
  double norm = true_norm_ = true_residual();
  // A column without entries hides a non-finite x from the residual.
  const double norm_x = ops.norm(x);
  if (!std::isfinite(norm_x)) {
    end(Reason::nan, fmt::format("The solution x was non-finite after iteration {}.", report.iterations));
    return true_norm_ = norm_x;
  }
  if (!std::isfinite(norm)) {
    end(Reason::nan, fmt::format("The residual b − A x recomputed after iteration {} was non-finite.", report.iterations));
    return norm;
  }
  if (splits_) {
    // The iteration runs in the complement of the null space, where A x is.
    project(residual);
    if (inconsistent_) project(residual);
    norm = ops.norm(residual);
  }
  x_is_best_ = norm < best_norm_;
  if (x_is_best_) {
    best_norm_ = norm;
    best_x_.copy_from(x);
  }
  if (options.nrbe > 0) watch_backward_error(norm_x);
  Reason reason;
  if (meets(true_norm_, norm_x, reason)) {
    report.converged = true;
    end(reason, {});
  } else if (inconsistent_ && norm <= reachable_target_) {
    end(Reason::inconsistent, {});
  }
  return norm;
}

void SolveFrame::claim_denied(double true_norm) {
  ++report.residual_replacements;
  const bool progress = denied_norm_ == 0 || true_norm < 0.5 * denied_norm_;
  futile_claims_ = progress ? 0 : futile_claims_ + 1;
  denied_norm_ = denied_norm_ == 0 ? true_norm : std::min(denied_norm_, true_norm);
  if (futile_claims_ >= futile_claims_allowed || report.residual_replacements >= denied_claims_allowed) {
    end(Reason::stagnated,
        fmt::format("The recurrence reached the tolerance and b − A x did not, {} times, the last time with {:.3g}: the "
                    "tolerance is below what this arithmetic can reach here, or A or M is not linear.",
                    report.residual_replacements, norm_b_ > 0 ? true_norm / norm_b_ : true_norm));
  }
}

void SolveFrame::end_nonfinite(std::initializer_list<Named> vectors, const char* otherwise) {
  const char* name = otherwise;
  for (const Named& candidate : vectors) {
    if (!std::isfinite(ops.largest(*candidate.vector))) {
      name = candidate.name;
      break;
    }
  }
  end(Reason::nan,
      fmt::format("{} became non-finite in iteration {}; A, M or an overflow is the cause.", name, report.iterations + 1));
}

void SolveFrame::scale_back() {
  scale(x, exponent_);
  const double largest = ops.largest(x);
  if (!std::isfinite(largest)) {
    clear(x);
    report.converged = false;
    end(Reason::nan, "The solution is larger than a double can be; x = 0 is returned. Scale the system.");
  }
  // What A sees: the x that is returned, in the scale of the solve.
  best_x_.copy_from(x);
  scale(best_x_, -exponent_);
  A_.careful_residual(*b_, best_x_, residual);
  true_norm_ = ops.norm(residual);
  Reason reason;
  if (report.converged && meets(true_norm_, ops.norm(best_x_), reason)) return;
  if (!(true_norm_ <= norm_b_)) {
    // Rounded to denormal numbers it is worse than nothing.
    clear(x);
    clear(best_x_);
    true_norm_ = norm_b_;
  }
  if (!report.converged) return;
  report.converged = false;
  end(Reason::stagnated,
      "The tolerance was met, but not by the x that can be returned: its entries are so small that doubles hold few or none "
      "of their digits. Scale the system.");
}

std::string SolveFrame::final_sentence() const {
  if (report.converged) {
    return norm_b_ == 0 ? "b = 0, and so is x."
                        : fmt::format("Converged in {} iterations; the recomputed residual is {:.3g} of ‖b‖.",
                                      report.iterations, report.relative_residual);
  }
  if (report.reason == Reason::inconsistent) {
    return fmt::format(
        "b is not in the range of A: its part along the null vector, {:.3g} of ‖b‖, is out of reach, and x "
        "solves the system without that part, so that ‖b − A x‖/‖b‖ = {:.3g} is as small as it can be. Take "
        "that part out of b.",
        report.inconsistent_part, report.relative_residual);
  }
  return fmt::format("{} The best iterate has {} {:.3g}.", report.message,
                     norm_b_ > 0 ? "‖b − A x‖/‖b‖ =" : "‖b − A x‖ =", report.relative_residual);
}

Report SolveFrame::finish() {
  if (!report.converged) {
    const Reason reason = report.reason;
    const std::string message = report.message;
    x_is_best_ = false;
    check();
    if (!report.converged) {
      end(reason, message);
      if (!x_is_best_) {
        x.copy_from(best_x_);
        true_norm_ = true_residual();
      }
    }
  }
  if (exponent_ != 0) scale_back();
  if (norm_A_ == 0) norm_A_ = A_.norm_inf();
  report.relative_residual = norm_b_ > 0 ? true_norm_ / norm_b_ : true_norm_;
  report.nrbe = true_norm_ == 0 ? 0 : true_norm_ / (norm_b_ + norm_A_ * ops.norm(exponent_ != 0 ? best_x_ : x));
  report.message = final_sentence();
  if (history_full_) {
    report.remarks.push_back(fmt::format("The history holds the first {} iterations only.", report.history.size()));
  }
  if (A_.has_own_order()) A_.give_back(x, user_x_);
  if (!device().is_host()) M_.settle();
  report.transfers = transfer_counts() - transfers_before_;
  report.solve_seconds = timer_.seconds();
  return std::move(report);
}

}  // namespace echelon
