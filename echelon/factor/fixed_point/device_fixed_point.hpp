// SPDX-License-Identifier: BSD-3-Clause
// The fixed-point sweeps of fixed_point.hpp on a GPU: a thread an entry, or a column of a block, all at once from the last
// sweep's; the bits are the host's, those of the residuals too. Where the pattern lets no entry beside the diagonal change
// (star5, star7, every bipartite graph whose rows see each other) only the diagonal is swept.
#pragma once

#include <string>

#include "echelon/base/array.hpp"
#include "echelon/factor/fixed_point/device_fixed_point_view.hpp"
#include "echelon/factor/fixed_point/fixed_point.hpp"
#include "echelon/factor/rows_gpu/device_triangles.hpp"

namespace echelon {

/// Without the rows of entries.
SweptPattern swept_pattern(std::int64_t rows, const DeviceTriangle& lower, const DeviceTriangle& upper);

class DeviceFixedPoint {
 public:
  DeviceFixedPoint() = default;
  /// `rows` is the view of an exact factorization (A is not asked for but for its block size), `pattern` has as many entries
  /// as it says and no rows of entries yet. What they point to must outlive this. Error(will_not_fit) without room.
  /// `kernels` run where `device` is.
  DeviceFixedPoint(const FactorView<double>& rows, const SweptPattern& pattern, Device device,
                   const DeviceFixedPointKernels* kernels = device_fixed_point_kernels());

  bool only_diagonal() const { return only_diagonal_; }
  /// "fixed-point sweeps, b=3", for reports.
  std::string kernel() const;
  /// One attempt. A's rows were measured (`known`) and the status cleared; it gets bad pivots of the last sweep, the change
  /// of the diagonal and what bounds the inverse. `norm` and `change` of the outcome are the caller's. Waits.
  FixedPointOutcome run(const FactorView<double>& rows, const RowMeasures& known, FactorStatus* status, double largest,
                        int sweeps);
  std::int64_t bytes() const;

 private:
  void look_at_pattern();
  double measured(DeviceFixedPointView& view);
  void step(DeviceFixedPointView& view, bool logs, bool measures);
  void start(DeviceFixedPointView& view, int sweeps);

  Device device_;
  const DeviceFixedPointKernels* kernels_ = nullptr;
  DeviceFixedPointView view_;
  bool only_diagonal_ = false;
  Array<std::int32_t> lower_row_, upper_row_;
  Array<double> given_lower_, given_upper_, given_diagonal_;
  Array<double> lower_, upper_, inverse_, met_, scaled_, room_;
  Array<double> row_sums_, part_sums_;
  Array<int> swaps_;
};

}  // namespace echelon
