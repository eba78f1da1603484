// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/solve_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"

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
/// max|A v| of a null vector v, relative to ‖A‖∞·max|v|: what entries written with eight digits leave.
constexpr double null_vector_tolerance = 1e-8;

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
      throw Error(ErrorCode::nonfinite_value, fmt::format("{} must be finite; element {} is {}", what, i, v[i]));
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
  const int vectors = (options.null_space ? 4 : 2) + (A.has_own_order() ? 3 : 0);
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
  if (options.null_space) set_null_space(*b_);
  norm_b_ = ops.norm(*b_);
  if (!std::isfinite(norm_b_)) {
    throw Error(ErrorCode::nonfinite_value, "b is finite but ‖b‖ is not: it is too large for a double; scale the system");
  }
  if (options.nrbe > 0) norm_A_ = A.norm_inf();
  if (options.nrbe > 0 && std::isnan(norm_A_)) {
    throw Error(ErrorCode::bad_argument, "nrbe was asked for and the matrix does not know its norm (norm_inf is NaN)");
  }
  target_ = std::max(options.rtol * norm_b_, options.atol);
  apparent_target_ = target_;
  if (norm_b_ == 0) clear(x);

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

void SolveFrame::set_null_space(const V& b) {
  null_vector_ = vector();
  A_.keep(*options.null_space, null_vector_);
  check_finite("the null vector", *options.null_space, null_vector_);
  const double length = ops.norm(null_vector_);
  if (length == 0) throw Error(ErrorCode::bad_argument, "the null vector is zero");
  auto unit = options.null_space->to(Device::host());
  for (double& value : unit) value /= length;
  assign(null_vector_, unit);
  require_null_vector();
  projected_b_ = b.clone();
  const double norm = ops.norm(b);
  const double inside = std::fabs(ops.dot(null_vector_, projected_b_));
  project(projected_b_);
  // The second projection takes what the rounding of the first left behind.
  project(projected_b_);
  if (ops.norm(projected_b_) <= rounding_of_projection * static_cast<double>(n) * norm) clear(projected_b_);
  b_ = &projected_b_;
  projected_ = true;
  report.remarks.push_back(fmt::format(
      "The null space was projected out: its part of b was {:.3g} of ‖b‖; residuals are those of the projected system.",
      norm > 0 ? inside / norm : 0.0));
}

/// With any other vector the projected system would be a different one, and its solution no answer to the user's.
void SolveFrame::require_null_vector() {
  norm_A_ = A_.norm_inf();
  if (!std::isfinite(norm_A_)) return;
  multiply(null_vector_, residual);
  const double left = ops.largest(residual), most = null_vector_tolerance * norm_A_ * ops.largest(null_vector_);
  if (left <= most) return;
  throw Error(ErrorCode::bad_argument,
              fmt::format("the null vector v is none of this matrix: max|A v| is {:.3g} of ‖A‖∞·max|v|, at most {:.0e} is "
                          "rounding; leave the null space out",
                          left / most * null_vector_tolerance, null_vector_tolerance));
}

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
    apparent_target_ = std::max(target_, options.nrbe * (norm_b_ + norm_A_ * ops.norm(x)));
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
  } else if (norm <= options.atol) {
    reason = Reason::atol;
  } else if (options.nrbe > 0 && norm <= options.nrbe * (norm_b_ + norm_A_ * norm_x)) {
    reason = Reason::nrbe;
  } else {
    return false;
  }
  return true;
}

double SolveFrame::check() {
  M_.settle();
  const double norm = last_norm_ = true_residual();
  // A column without entries hides a non-finite x from the residual.
  const double norm_x = ops.norm(x);
  if (!std::isfinite(norm_x)) {
    end(Reason::nan, fmt::format("The solution x was non-finite after iteration {}.", report.iterations));
    return last_norm_ = norm_x;
  }
  if (!std::isfinite(norm)) {
    end(Reason::nan, fmt::format("The residual b − A x recomputed after iteration {} was non-finite.", report.iterations));
    return norm;
  }
  x_is_best_ = norm < best_norm_;
  if (x_is_best_) {
    best_norm_ = norm;
    best_x_.copy_from(x);
  }
  if (options.nrbe > 0) apparent_target_ = std::max(target_, options.nrbe * (norm_b_ + norm_A_ * norm_x));
  Reason reason;
  if (meets(norm, norm_x, reason)) {
    report.converged = true;
    end(reason, {});
  } else if (projected_) {
    // The iteration runs in the complement of the null space.
    project(residual);
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

Report SolveFrame::finish() {
  double norm = 0;
  if (!report.converged) {
    const Reason reason = report.reason;
    const std::string message = report.message;
    x_is_best_ = false;
    norm = check();
    if (!report.converged) {
      end(reason, message);
      if (!x_is_best_) {
        x.copy_from(best_x_);
        norm = true_residual();
      }
    }
  } else {
    norm = last_norm_;
  }
  if (norm_A_ == 0) norm_A_ = A_.norm_inf();
  const double norm_x = ops.norm(x);
  report.relative_residual = norm_b_ > 0 ? norm / norm_b_ : norm;
  report.nrbe = norm == 0 ? 0 : norm / (norm_b_ + norm_A_ * norm_x);
  if (report.converged) {
    report.message = norm_b_ == 0
                         ? "b = 0, and so is x."
                         : fmt::format("Converged in {} iterations; the recomputed residual is {:.3g} of ‖b‖{}.",
                                       report.iterations, report.relative_residual, projected_ ? " (projected system)" : "");
  } else {
    report.message += fmt::format(" The best iterate has {} {:.3g}.",
                                  norm_b_ > 0 ? "‖b − A x‖/‖b‖ =" : "‖b − A x‖ =", report.relative_residual);
  }
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
