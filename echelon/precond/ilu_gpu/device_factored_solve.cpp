// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/ilu_gpu/device_factored_solve.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/precond/preconditioner.hpp"

namespace echelon {
namespace {

/// What is waited for takes microseconds; a GPU that is shared or stopped by a debugger may take seconds.
constexpr double patience_seconds = 20;
constexpr const char* right_hand_side = "right-hand side of an ILU";
constexpr const char* result = "result of an ILU";

}  // namespace

void DeviceFactoredSolve::place(const Triangle& lower, const Triangle& upper, const Array<double>& inverse_diagonal,
                                int block) {
  const auto stored = [](const Triangle& one) {
    return StoredTriangle{&one.pattern.start, &one.pattern.distance, &one.values};
  };
  const auto view = [&](const Triangle& one, bool is_lower) {
    return sweep_view(one.pattern, is_lower, block, one.values, inverse_diagonal, one.order);
  };
  factors_ = {scalars_ / block,  block,
              stored(lower),     stored(upper),
              &inverse_diagonal, {order_or_null(lower.order), order_or_null(upper.order)}};
  sweeps = RowSweeps(view(lower, true), view(upper, false), device_, patience_seconds);
  iterations_.reset();
  iterates_ = false;
}

void DeviceFactoredSolve::choose(const TrisolveOptions& options, FactorReport& report) {
  if (iterations_) report.bytes -= iterations_->bytes();
  if (!iterations_) iterations_.emplace();
  iterates_ = scalars_ > 0 && iterations_->prepare(factors_, options, report);
  report.bytes += iterations_->bytes();
  report.kernel = iterates_ ? iterations_->kernel() : sweeps.kernel();
}

void DeviceFactoredSolve::require_applicable(const FactorReport& report, const Vector<double>& v, const char* what) const {
  if (!report.ok) throw Error(ErrorCode::bad_argument, "a failed factorization was applied: " + report.message);
  if (v.device() != device_) {
    throw Error(ErrorCode::device,
                fmt::format("mixing places: factors on {}, the {} on {}", device_.name(), what, v.device().name()));
  }
  if (v.size() != scalars_) throw_size_mismatch(what, v.size(), scalars_);
}

void DeviceFactoredSolve::apply(const double* r, double* z) {
  if (scalars_ == 0) return;
  if (iterates_) {
    iterations_->apply(r, z);
  } else {
    sweeps.apply(r, z);
  }
}

void DeviceFactoredSolve::apply(const FactorReport& report, const Vector<double>& r, Vector<double>& z) {
  require_applicable(report, r, right_hand_side);
  require_applicable(report, z, result);
  apply(r.data(), z.data());
}

void DeviceFactoredSolve::apply_many(const FactorReport& report, std::span<const Vector<double>> r,
                                     std::span<Vector<double>> z) {
  require_as_many(r.size(), z.size());
  for (std::size_t k = 0; k < r.size(); ++k) {
    require_applicable(report, r[k], right_hand_side);
    require_applicable(report, z[k], result);
  }
  if (scalars_ > 0 && !iterates_) return sweeps.apply_many(r, z);
  for (std::size_t k = 0; k < r.size(); ++k) apply(r[k].data(), z[k].data());
}

void DeviceFactoredSolve::settle(const FactorReport& report) {
  if (report.ok && scalars_ > 0) sweeps.check();
}

}  // namespace echelon
