// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/iterated/device_iterations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "echelon/base/timer.hpp"
#include "echelon/factor/rows/triangle_measures.hpp"
#include "echelon/sweep/iterated/iteration_guard.hpp"
#include "echelon/sweep/iterated/iteration_upload.hpp"

namespace echelon {
namespace {

/// `auto` must not change what the preconditioner is: so much of the first error may be left, by the bound.
constexpr double automatic_left_over = 1e-2;

template <class S>
void fetch(Array<S>& here, const Array<S>& there) {
  set_size(here, there.size(), Device::host());
  here.copy_from(there);
}

}  // namespace

bool DeviceIterations::prepare(const StoredFactors& factors, const TrisolveOptions& options, FactorReport& report) {
  report.trisolve.reset();
  if (options.method == Trisolve::exact || !report.ok) return false;
  const Timer timer;
  device_ = factors.inverse_diagonal->device();
  copy_factors(factors);
  if (!cluster_fits_) cluster_fits_ = cluster_.plan(host_, options, device_, *launches_);
  const bool iterates = options.method == Trisolve::automatic ? choose_automatically(options, report)
                                                              : judged_.prepare(host_, options, report);
  if (iterates) {
    clustered_ = *cluster_fits_ && cluster_is_faster();
    if (clustered_) {
      cluster_.load(judged_, factors.orders);
    } else {
      launched_.load(judged_, factors, device_, *launches_);
    }
  }
  report.trisolve->seconds = timer.seconds();
  return iterates;
}

void DeviceIterations::copy_factors(const StoredFactors& factors) {
  const bool known = host_.rows == factors.rows && host_.lower.start.size() == factors.rows + 1;
  host_.rows = factors.rows;
  host_.block = factors.block;
  const auto take = [&](const StoredTriangle& stored, TrianglePattern& pattern, Array<double>& values) {
    if (!known) {
      pattern.rows = factors.rows;
      fetch(pattern.start, *stored.start);
      fetch(pattern.distance, *stored.distance);
    }
    fetch(values, *stored.values);
  };
  take(factors.lower, host_.lower, host_.lower_values);
  take(factors.upper, host_.upper, host_.upper_values);
  fetch(host_.inverse_diagonal, *factors.inverse_diagonal);
}

TriangleWork DeviceIterations::work(const TrianglePattern& triangle, std::int64_t levels, std::int64_t sweeps) const {
  return {triangle.rows, triangle.entries(), levels, host_.block, static_cast<int>(sweeps)};
}

bool DeviceIterations::cluster_is_faster() const {
  const ClusterView& view = cluster_.view();
  if (view.form != ClusterForm::streamed) return true;
  double clustered = 0, launched = 0;
  for (const auto* side : {&judged_.lower(), &judged_.upper()}) {
    const TriangleWork one = work(*side->swept().pattern, side->note().levels, side->note().sweeps);
    clustered += clustered_seconds(one, view.ctas, view.form);
    launched += launched_seconds(one);
  }
  return clustered < launched;
}

/// Exact unless the factor is small, no more sweeps than were asked for leave next to nothing of an error by the guard's
/// bound, and the model promises a gain with that number.
bool DeviceIterations::choose_automatically(const TrisolveOptions& options, FactorReport& report) {
  FactorReport judged;
  const std::string why = why_not(options, judged);
  if (why.empty()) {
    report.trisolve = judged.trisolve;
    report.trisolve->asked = word(Trisolve::automatic);
    return true;
  }
  TrisolveNote& note = report.trisolve.emplace();
  if (judged.trisolve) note = *judged.trisolve;
  note.asked = word(Trisolve::automatic);
  note.used = word(Trisolve::exact);
  note.why = why;
  return false;
}

std::string DeviceIterations::why_not(const TrisolveOptions& options, FactorReport& judged) {
  if (!*cluster_fits_) return "the factors are too large to be iterated in one kernel, and exact sweeps read them once";
  TrisolveOptions jacobi = options;
  jacobi.method = Trisolve::jacobi;
  jacobi.guard = true;
  // The same number for both, so that a symmetric preconditioner stays one.
  jacobi.sweeps = 1;
  for (const auto& view : {lower_view(host_), upper_view(host_)}) {
    const ErrorGrowth bound = bound_of_growth(view, jacobi, options.sweeps, automatic_left_over);
    if (!(bound.last <= automatic_left_over)) {
      return fmt::format("after {} sweeps {:.1e} times the first error may be left", bound.sweeps, bound.last);
    }
    jacobi.sweeps = std::max(jacobi.sweeps, bound.sweeps);
  }
  double exact = 0, iterated = 0;
  for (const auto* triangle : {&host_.lower, &host_.upper}) {
    const TriangleWork one = work(*triangle, level_count(*triangle), jacobi.sweeps);
    exact += exact_seconds(one);
    iterated += clustered_seconds(one, cluster_.view().ctas, cluster_.view().form);
  }
  if (!(iterated < TrisolveCosts{}.worthwhile * exact)) {
    return fmt::format("exact sweeps are expected to take {:.0f} us, {} sweeps of an iteration {:.0f} us", 1e6 * exact,
                       jacobi.sweeps, 1e6 * iterated);
  }
  const bool accepted = judged_.prepare(host_, jacobi, judged);
  return accepted ? std::string() : judged.trisolve->why;
}

void DeviceIterations::apply(const double* r, double* x) {
  if (clustered_) {
    cluster_.apply(r, x);
  } else {
    launched_.apply(r, x);
  }
}

std::string DeviceIterations::kernel() const {
  if (!clustered_) return fmt::format("iteration, a launch a sweep, b={}", host_.block);
  const ClusterView& view = cluster_.view();
  const char* form = view.form == ClusterForm::held       ? "rows in registers"
                     : view.form == ClusterForm::resident ? "factors in shared memory"
                                                          : "factors streamed";
  return fmt::format("iteration in one cluster of {}, {}, b={}", view.ctas, form, view.block);
}

}  // namespace echelon
