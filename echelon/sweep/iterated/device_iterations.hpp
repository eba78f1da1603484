// SPDX-License-Identifier: BSD-3-Clause
// U⁻¹ L⁻¹ r by iteration on a GPU, the bits of IteratedTriangles on the host: small factors in one launch of a cluster,
// others with a launch a sweep. Set-up (measures, scaling, the guard's bound and probes) is the host's, on a copy of the
// factors, and its time is in the report.
#pragma once

#include <optional>
#include <string>

#include "echelon/sweep/iterated/cluster_iterations.hpp"
#include "echelon/sweep/iterated/launched_iterations.hpp"
#include "echelon/sweep/iterated/trisolve_costs.hpp"

namespace echelon {

class DeviceIterations {
 public:
  /// Other launches than the device's are for tests, with factors on the host. Null: this build has no CUDA.
  explicit DeviceIterations(const IterationLaunches* launches = iteration_launches()) : launches_(launches) {}

  /// After new values: whether to iterate, or to sweep exactly because that was asked for, is faster, or the guard foresees
  /// that the iteration diverges. The report gets the note and, for the last, a remark; patterns must be those of the first
  /// call, and what `factors` points to must stay. Not to be moved afterwards.
  bool prepare(const StoredFactors& factors, const TrisolveOptions& options, FactorReport& report);

  /// Queued, not waited for; `r` may be `x`. One call at a time.
  void apply(const double* r, double* x);
  /// What `apply` runs, as reports name it.
  std::string kernel() const;
  /// On the device.
  std::int64_t bytes() const { return cluster_.bytes() + launched_.bytes(); }
  const ClusterView& cluster() const { return cluster_.view(); }
  bool clustered() const { return clustered_; }

 private:
  void copy_factors(const StoredFactors& factors);
  bool choose_automatically(const TrisolveOptions& options, FactorReport& report);
  std::string why_not(const TrisolveOptions& options, FactorReport& judged);
  TriangleWork work(const TrianglePattern& triangle, std::int64_t levels, std::int64_t sweeps) const;
  bool cluster_is_faster() const;

  const IterationLaunches* launches_;
  Device device_;
  Triangles<double> host_;
  IteratedTriangles<double> judged_;
  std::optional<bool> cluster_fits_;  // once it was asked
  bool clustered_ = false;
  ClusterIterations cluster_;
  LaunchedIterations launched_;
};

}  // namespace echelon
