// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/fixed_point/device_threshold.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "echelon/base/memory.hpp"

namespace echelon {
namespace {

std::int64_t last_of(const Array<std::int64_t>& x) {
  std::int64_t last = 0;
  copy_bytes(&last, Device::host(), x.data() + x.size() - 1, x.device(), sizeof last);
  return last;
}

MadePattern made(DeviceSweptPattern& to) {
  return {to.lower_start.data(), to.upper_start.data(), to.lower_distance.data(), to.upper_distance.data()};
}

}  // namespace

SweptPattern DeviceSweptPattern::view() const {
  return {lower_start.size() - 1, lower_distance.size(), upper_distance.size(), lower_start.data(), upper_start.data(),
          lower_distance.data(),  upper_distance.data(), lower_row.data(),      upper_row.data()};
}

DeviceThresholdRounds::DeviceThresholdRounds(const BlockCsrView<double>& A, const std::int32_t* names,
                                             const RowMeasures& known, double largest, Device device,
                                             const ThresholdSteps& steps)
    : n_(A.block_rows),
      device_(device),
      steps_(steps),
      met_(n_, device),
      row_sums_(n_, device),
      part_sums_((n_ + fixed_point_part_rows - 1) / fixed_point_part_rows, device) {
  view_.rows.A = A;
  view_.rows.names = names;
  view_.rows.known = known;
  view_.rows.unit = fixed_point_unit(largest);
  view_.rows.met = met_.data();
  view_.rows.row_sums = row_sums_.data();
  view_.rows.part_sums = part_sums_.data();
}

/// Starts alone, not set.
DeviceSweptPattern DeviceThresholdRounds::empty() const {
  DeviceSweptPattern to;
  to.lower_start = Array<std::int64_t>(n_ + 1, device_);
  to.upper_start = Array<std::int64_t>(n_ + 1, device_);
  return to;
}

/// Room for what the starts say.
void DeviceThresholdRounds::make_entries(DeviceSweptPattern& to) const {
  constexpr std::int64_t bytes_an_entry = 2 * (4 + 4 + 8);  // what is made next from it has as many values
  const std::int64_t below = last_of(to.lower_start), above = last_of(to.upper_start);
  require_memory((below + above) * bytes_an_entry, "a round of ParILUT", device_);
  to.lower_distance = Array<std::int32_t>(below, device_);
  to.upper_distance = Array<std::int32_t>(above, device_);
  to.lower_row = Array<std::int32_t>(below, device_);
  to.upper_row = Array<std::int32_t>(above, device_);
}

DeviceIterate DeviceThresholdRounds::make_values(const DeviceSweptPattern& on) const {
  return {Array<double>(on.lower_distance.size(), device_), Array<double>(on.upper_distance.size(), device_),
          Array<double>(n_, device_), Array<double>(n_, device_)};
}

/// With A's places and those that LU fills.
DeviceSweptPattern DeviceThresholdRounds::grown(const DeviceSweptPattern& from) {
  DeviceSweptPattern to = empty();
  view_.from = from.view();
  view_.made = made(to);
  steps_.rounds->count_grown(device_.index, view_);
  make_entries(to);
  view_.made = made(to);
  steps_.rounds->fill_grown(device_.index, view_);
  steps_.sweeps->find_rows(device_.index, to.view(), to.lower_row.data(), to.upper_row.data());
  return to;
}

/// Values on `to` from the last ones on `from`, of which there are none at the start; `change` gets ‖new − last‖_F.
DeviceIterate DeviceThresholdRounds::sweep(const DeviceSweptPattern& from, DeviceIterate& last, const DeviceSweptPattern& to,
                                           bool logs, double* change) {
  const bool start = last.pivots.empty(), mirrored = limits_.symmetric && !start;
  DeviceIterate next = make_values(to);
  view_.from = from.view();
  view_.to = to.view();
  view_.last = last.view();
  view_.next = next.view();
  view_.last_pivots = start ? nullptr : last.pivots.data();
  view_.next_pivots = next.pivots.data();
  view_.rows.logs = logs;
  // What is measured is L as computed, before it becomes U's mirror.
  view_.upper_only = mirrored && !change;
  steps_.rounds->sweep(device_.index, view_);
  if (change) {
    steps_.rounds->sum(device_.index, view_);
    const Array<double> parts = part_sums_.to(Device::host());
    double sum = 0;
    for (const double one : parts) sum += one;
    *change = std::sqrt(sum);
  }
  if (mirrored) steps_.rounds->mirror(device_.index, view_);
  return next;
}

/// The largest of each triangle, and the diagonal, which is taken over.
DeviceSweptRows DeviceThresholdRounds::selected(const DeviceSweptPattern& pattern, DeviceIterate& values,
                                                ThresholdOutcome& outcome) {
  view_.to = pattern.view();
  view_.next = values.view();
  const auto threshold = [&](bool lower, std::int64_t limit) {
    return threshold_by_digits(limit, [&](int digit, int shift, std::uint64_t prefix) {
      return steps_.rounds->count_digits(device_.index, view_, lower, digit, shift, prefix);
    });
  };
  outcome.upper_threshold = view_.upper_threshold = threshold(false, limits_.upper);
  outcome.lower_threshold = view_.lower_threshold =
      limits_.symmetric ? outcome.upper_threshold : threshold(true, limits_.lower);
  DeviceSweptRows to;
  to.pattern = empty();
  view_.made = made(to.pattern);
  steps_.rounds->count_kept(device_.index, view_);
  make_entries(to.pattern);
  to.values.lower = Array<double>(to.pattern.lower_distance.size(), device_);
  to.values.upper = Array<double>(to.pattern.upper_distance.size(), device_);
  view_.made = made(to.pattern);
  view_.kept_lower = to.values.lower.data();
  view_.kept_upper = to.values.upper.data();
  steps_.rounds->fill_kept(device_.index, view_);
  steps_.sweeps->find_rows(device_.index, to.pattern.view(), to.pattern.lower_row.data(), to.pattern.upper_row.data());
  to.values.pivots = std::move(values.pivots);
  to.values.inverse = std::move(values.inverse);
  return to;
}

ThresholdOutcome DeviceThresholdRounds::run(const PivotRules& rules, const ThresholdLimits& limits, FactorStatus* status,
                                            DeviceSweptRows& S) {
  limits_ = limits;
  view_.rows.rules = rules;
  view_.rows.status = status;
  DeviceSweptPattern nothing = empty();
  ThresholdOutcome outcome;
  if (n_ == 0) {
    S.pattern = std::move(nothing);
    // As of a selection that has nothing to drop.
    outcome.lower_threshold = outcome.upper_threshold = std::numeric_limits<double>::denorm_min();
    return outcome;
  }
  for (auto* start : {&nothing.lower_start, &nothing.upper_start}) {
    steps_.rounds->clear(device_.index, start->data(), start->size());
  }
  DeviceIterate none;
  double norm = 0, change = 0;
  S.pattern = grown(nothing);
  S.values = sweep(nothing, none, S.pattern, false, &norm);
  const auto relative = [&](double size) { return norm > 0 ? size / norm : size; };
  for (int round = 0; round < limits.rounds; ++round) {
    const DeviceSweptPattern larger = grown(S.pattern);
    DeviceIterate values = sweep(S.pattern, S.values, larger, false, round == 0 ? &change : nullptr);
    if (round == 0) outcome.start_residual = relative(change);
    S = selected(larger, values, outcome);
    S.values = sweep(S.pattern, S.values, S.pattern, round + 1 == limits.rounds, nullptr);
  }
  static_cast<void>(sweep(S.pattern, S.values, S.pattern, false, &change));
  outcome.residual = relative(change);
  return outcome;
}

}  // namespace echelon
