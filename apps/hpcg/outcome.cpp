// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/outcome.hpp"

namespace echelon::hpcg {
namespace {

constexpr double giga = 1e9;
/// A set carries this part of set-up and optimisation: they are made once for ten sets.
constexpr double charged_part = 0.1;

}  // namespace

NormsTest norms_test(const std::vector<double>& values) {
  NormsTest test;
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value - values.front();
  test.mean = values.empty() ? 0 : values.front() + sum / count;
  for (const double value : values) squares += (value - test.mean) * (value - test.mean);
  test.variance = values.empty() ? 0 : squares / count;
  return test;
}

Flops Outcome::flops() const { return count_flops(geometry, sets(), optimized_iterations); }

double Outcome::rated_flops() const { return flops().total() * reference_iterations / optimized_iterations; }

double Outcome::rating() const {
  return rated_flops() / (seconds.total + sets() * charged_part * (setup_seconds + optimize_seconds)) / giga;
}

double Outcome::rating_without_setup() const {
  return rated_flops() / (seconds.total + sets() * charged_part * optimize_seconds) / giga;
}

double Outcome::raw_rate() const { return flops().total() / seconds.total / giga; }

double Outcome::reference_rate() const {
  return count_flops(geometry, 1, reference_iterations).total() / reference_seconds.total / giga;
}

double Outcome::bound() const {
  const double bytes = iteration_bytes * optimized_iterations * sets();
  return rated_flops() / (bytes / triad) / giga;
}

double Outcome::percent_of_bound() const {
  const double bytes = iteration_bytes * optimized_iterations * sets();
  return 100 * bytes / triad / seconds.total;
}

}  // namespace echelon::hpcg
