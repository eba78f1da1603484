// SPDX-License-Identifier: BSD-3-Clause
// Factors that the host made, swept on a GPU: for factorizations without a body there (ILUT, ILUTP). Triangles and
// values travel once; z = Q U⁻¹ L⁻¹ P r has the host's bits, by exact sweeps or by an iteration.
#pragma once

#include "echelon/factor/rows_gpu/device_triangles.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/ilu_gpu/device_factored_solve.hpp"

namespace echelon {

class DeviceFactoredIlu final : public Preconditioner<double> {
 public:
  /// `host` is a factorization of block CSR; when it failed, its report is all there is. Throws Error(bad_argument) for
  /// factors on a grid, will_not_fit without room. How the host itself would solve with them does not matter.
  DeviceFactoredIlu(const Ilu<double>& host, SweepSchedule schedule, Device device, const TrisolveOptions& trisolve = {});
  DeviceFactoredIlu(const DeviceFactoredIlu&) = delete;
  DeviceFactoredIlu& operator=(const DeviceFactoredIlu&) = delete;

  /// Queued, not waited for; vectors in A's order. They may be one.
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  void apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) const override;
  void settle() const override;
  const FactorReport& report() const override { return report_; }

 private:
  struct OnDevice {
    DeviceTriangle pattern;
    Array<double> values;
    Array<std::int32_t> order;  // elimination position → the user's; empty when natural
  };

  OnDevice lower_, upper_;
  Array<double> inverse_diagonal_;
  mutable DeviceFactoredSolve solve_;
  FactorReport report_;
};

}  // namespace echelon
