// SPDX-License-Identifier: BSD-3-Clause
// FactoredSolve on a GPU: z = Q U⁻¹ L⁻¹ P r with factors of P A Q that lie there, by exact sweeps or by an iteration that
// was asked for and is expected to converge. What every factorization of a block CSR matrix ends in there; the factors are
// its.
#pragma once

#include <optional>

#include "echelon/report/factor_report.hpp"
#include "echelon/sweep/iterated/device_iterations.hpp"
#include "echelon/sweep/rows_gpu/row_sweeps.hpp"

namespace echelon {

class DeviceFactoredSolve {
 public:
  RowSweeps sweeps;  // exact, whatever `apply` does

  DeviceFactoredSolve() = default;
  DeviceFactoredSolve(Device device, std::int64_t scalars) : device_(device), scalars_(scalars) {}

  struct Triangle {
    const DeviceTriangle& pattern;
    const Array<double>& values;
    const Array<std::int32_t>& order;  // elimination position → the user's row (U: column); empty when natural
  };
  /// New patterns. What is referred to must stay where it is, and this, too.
  void place(const Triangle& lower, const Triangle& upper, const Array<double>& inverse_diagonal, int block);
  /// After new values: what `apply` runs. The report's trisolve, kernel and bytes follow, and a remark where exact sweeps
  /// take over.
  void choose(const TrisolveOptions& options, FactorReport& report);

  /// Queued, not waited for; in the user's order, r may be z. Throw Error when the report says that there is nothing to
  /// apply, and for vectors elsewhere or of another size.
  void apply(const FactorReport& report, const Vector<double>& r, Vector<double>& z);
  void apply_many(const FactorReport& report, std::span<const Vector<double>> r, std::span<Vector<double>> z);
  void settle(const FactorReport& report);
  void require_applicable(const FactorReport& report, const Vector<double>& v, const char* what) const;
  std::int64_t bytes() const { return sweeps.bytes(); }

 private:
  void apply(const double* r, double* z);

  Device device_;
  std::int64_t scalars_ = 0;
  StoredFactors factors_;
  std::optional<DeviceIterations> iterations_;
  bool iterates_ = false;
};

}  // namespace echelon
