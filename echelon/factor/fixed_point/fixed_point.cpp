// SPDX-License-Identifier: BSD-3-Clause
// Threads and buffers of the fixed-point sweeps. Sums are taken part by part of the rows and then over the parts, in one
// fixed order.
#include "echelon/factor/fixed_point/fixed_point.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {
namespace {

constexpr std::int64_t rows_of_a_part = fixed_point_part_rows;

std::int64_t parts_of(std::int64_t rows) { return (rows + rows_of_a_part - 1) / rows_of_a_part; }

/// body(part, begin, end, workspace, shared) for each part; gives nothing back. Throws WorkStopped.
template <class T, class Body>
void for_parts(std::int64_t rows, std::vector<RowWorkspace<T>>& workspaces, const Body& body) {
  const std::int64_t parts = parts_of(rows);
  const int team = parts > 1 ? static_cast<int>(workspaces.size()) : 1;
  SharedWork shared;
#pragma omp parallel for num_threads(team) if (team > 1) schedule(static)
  for (std::int64_t part = 0; part < parts; ++part) {
    if (!shared.goes_on(rows_of_a_part)) continue;
    auto& work = workspaces[static_cast<std::size_t>(omp_get_thread_num())];
    body(part, part * rows_of_a_part, std::min(rows, (part + 1) * rows_of_a_part), work, shared);
  }
  shared.finish();
}

/// What a row of a sweep may take at most: it merges its row of L with columns of U, as long as the longest are.
template <class T>
std::int64_t most_work_a_row(const FactorView<T>& view) {
  std::int64_t below = 0, above = 0;
  for (std::int64_t s = 0; s < view.A.block_rows; ++s) {
    below = std::max(below, view.lower_start[s + 1] - view.lower_start[s]);
    above = std::max(above, view.upper_start[s + 1] - view.upper_start[s]);
  }
  return (below + 1) * (above + 1) * view.A.block * view.A.block * view.A.block;
}

}  // namespace

double fixed_point_unit(double largest) {
  return largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, -std::ilogb(largest)) : 1;
}

template <class T>
double fixed_point_unit(const BlockCsrView<T>& A) {
  T largest = 0;
  const std::int64_t values = A.row_start[A.block_rows] * A.block * A.block;
#pragma omp parallel for reduction(max : largest) schedule(static) num_threads(threads_for(values))
  for (std::int64_t e = 0; e < values; ++e) largest = std::max(largest, magnitude(A.values[e]));
  return fixed_point_unit(static_cast<double>(largest));
}
template double fixed_point_unit(const BlockCsrView<double>&);
template double fixed_point_unit(const BlockCsrView<float>&);

bool FixedPointOutcome::diverged() const {
  constexpr double rounding = 1e-6;  // what FP32 leaves of a residual, and FP64 far less
  return !(residual <= std::max(start_residual, rounding));
}

void FixedPointOutcome::tell(const std::string& title, int count, const char* sweeps, const PivotLog& log,
                             FactorReport& report) const {
  report.start_residual = start_residual;
  report.pattern_residual = residual;
  if (report.ok || !diverged() || log.has_nonfinite_input()) return;
  report.message = fmt::format(
      "{}: {} {} lead away from A, ‖LU − A‖/‖A‖ on the pattern is {:.3g} after {:.3g} at their start; exact elimination "
      "has no such limit",
      title, count, sweeps, residual, start_residual);
}

template <class T>
FixedPoint<T>::FixedPoint(const Triangles<T>& factors)
    : kernels_(fixed_point_kernels<T>(factors.block, factors.lower.narrow)),
      lower_(factors.lower_values.size()),
      upper_(factors.upper_values.size()),
      inverse_diagonal_(factors.inverse_diagonal.size()),
      sums_(parts_of(factors.rows)),
      bounds_(parts_of(factors.rows)) {}

template <class T>
FixedPointOutcome FixedPoint<T>::run(const FactorView<T>& view, int sweeps, std::vector<RowWorkspace<T>>& workspaces) {
  struct Iterate {
    T *lower, *upper, *inverse_diagonal;
  };
  Iterate ours{lower_.data(), upper_.data(), inverse_diagonal_.data()};
  Iterate theirs{view.lower_values, view.upper_values, view.inverse_diagonal};
  // The last sweep must end in the factors.
  Iterate now = sweeps % 2 == 0 ? ours : theirs, next = sweeps % 2 == 0 ? theirs : ours;
  FixedPointView<T> step{view, nullptr, nullptr, nullptr, fixed_point_unit(view.A)};
  const std::int64_t rows = view.A.block_rows;
  const std::int64_t a_row = WorkWatch::current() ? most_work_a_row(view) : 0;
  const bool row_by_row = a_row * rows_of_a_part > WorkWatch::operations_a_question;
  const auto pass = [&](typename FixedPointKernels<T>::Sweep kernel, PivotLog* log) {
    for (auto& work : workspaces) work.norm = work.change = 0;
    if (log == &passing_) passing_.reset();
    step.rows.lower_values = next.lower;
    step.rows.upper_values = next.upper;
    step.rows.inverse_diagonal = next.inverse_diagonal;
    step.rows.rules.log = log;
    step.lower = now.lower;
    step.upper = now.upper;
    step.inverse_diagonal = now.inverse_diagonal;
    for_parts(rows, workspaces,
              [&](std::int64_t part, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work, SharedWork& shared) {
                if (!row_by_row) {
                  sums_[part] = kernel(step, begin, end, work);
                  return;
                }
                // A kernel's sum over one row is the row's own number: added up here they are the part's, bit for bit.
                double sum = 0;
                for (auto i = begin; i < end && shared.goes_on(a_row); ++i) sum += kernel(step, i, i + 1, work);
                sums_[part] = sum;
              });
    std::swap(now, next);
    double sum = 0;
    for (const double one : sums_) sum += one;
    return std::sqrt(sum);
  };
  const double norm = pass(kernels_.start, &passing_);
  const auto relative = [&](double size) { return norm > 0 ? size / norm : size; };
  FixedPointOutcome outcome;
  for (int s = 0; s < sweeps; ++s) {
    const double change = pass(kernels_.sweep, s + 1 == sweeps ? view.rules.log : &passing_);
    if (s == 0) outcome.start_residual = relative(change);
  }
  for (const auto& work : workspaces) {
    outcome.norm = std::max(outcome.norm, work.norm);
    outcome.change = std::max(outcome.change, work.change);
  }
  outcome.residual = relative(pass(kernels_.sweep, &passing_));
  for_parts(rows, workspaces,
            [&](std::int64_t part, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work, SharedWork&) {
              bounds_[part] = kernels_.finish(view, begin, end, work);
            });
  FactorBounds bounds;
  for (const auto& one : bounds_) bounds.include(one);
  outcome.inverse_bound = bounds.of_inverse();
  return outcome;
}

template class FixedPoint<double>;
template class FixedPoint<float>;

}  // namespace echelon
