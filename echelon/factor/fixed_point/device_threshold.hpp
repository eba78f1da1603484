// SPDX-License-Identifier: BSD-3-Clause
// The rounds of ParILUT (threshold_rounds.hpp) on a GPU: growth, sweeps, exact selection and compaction there; a few numbers
// and the counts of digits come to the host. Factors, thresholds and residuals have the host's bits.
#pragma once

#include "echelon/base/array.hpp"
#include "echelon/factor/fixed_point/device_threshold_view.hpp"
#include "echelon/factor/fixed_point/threshold_rounds.hpp"

namespace echelon {

/// Two triangles on a device, with the rows of entries.
struct DeviceSweptPattern {
  Array<std::int64_t> lower_start, upper_start;
  Array<std::int32_t> lower_distance, upper_distance, lower_row, upper_row;
  SweptPattern view() const;
};

/// L·D, U, D and D⁻¹ on one.
struct DeviceIterate {
  Array<double> lower, upper, pivots, inverse;
  SweptValues view() { return {lower.data(), upper.data(), inverse.data()}; }
};

struct DeviceSweptRows {
  DeviceSweptPattern pattern;
  DeviceIterate values;
};

/// What the steps run on.
struct ThresholdSteps {
  const DeviceThresholdKernels* rounds = nullptr;
  const DeviceFixedPointKernels* sweeps = nullptr;
};

class DeviceThresholdRounds {
 public:
  /// `A` is in the elimination's order; `names` of its rows, or null; `known` its measures, `largest` max|a_ij|.
  DeviceThresholdRounds(const BlockCsrView<double>& A, const std::int32_t* names, const RowMeasures& known, double largest,
                        Device device, const ThresholdSteps& steps);

  /// The status was cleared; it gets bad pivots of the last sweep and the change of the diagonal. `norm` and `change` of the
  /// outcome are the caller's. S holds the last iterate; waits.
  ThresholdOutcome run(const PivotRules& rules, const ThresholdLimits& limits, FactorStatus* status, DeviceSweptRows& S);

 private:
  DeviceSweptPattern empty() const;
  DeviceSweptPattern grown(const DeviceSweptPattern& from);
  DeviceSweptRows selected(const DeviceSweptPattern& pattern, DeviceIterate& values, ThresholdOutcome& outcome);
  void make_entries(DeviceSweptPattern& to) const;
  DeviceIterate make_values(const DeviceSweptPattern& on) const;
  DeviceIterate sweep(const DeviceSweptPattern& from, DeviceIterate& last, const DeviceSweptPattern& to, bool logs,
                      double* change);

  std::int64_t n_;
  Device device_;
  ThresholdSteps steps_;
  DeviceThresholdView view_;
  ThresholdLimits limits_;
  Array<double> met_, row_sums_, part_sums_;
};

}  // namespace echelon
