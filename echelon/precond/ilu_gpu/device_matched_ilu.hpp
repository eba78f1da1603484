// SPDX-License-Identifier: BSD-3-Clause
// MatchedIlu on a GPU: rows are matched and scaled on the host, once; B = P R A C is factored there (device_block_ilu.hpp),
// or on the host (device_factored_ilu.hpp), and swept on the device. z = C (LU)⁻¹ P R r with the host's bits: the scales are
// powers of two.
#pragma once

#include <functional>
#include <memory>

#include "echelon/precond/ilu/matched_ilu.hpp"

namespace echelon {

class DeviceMatchedIlu final : public Preconditioner<double> {
 public:
  /// What factors B, which is on the host, for the device.
  using Factor = std::function<std::unique_ptr<Preconditioner<double>>(const BlockCsr<double>& B)>;
  /// `A` is on the host, block size 1. Throws as matched_matrix and `factor` do.
  DeviceMatchedIlu(const BlockCsr<double>& A, const Factor& factor, Device device);
  /// Queued, not waited for; vectors on the device.
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  void settle() const override { ilu_->settle(); }
  const FactorReport& report() const override { return report_; }

 private:
  DeviceMatchedIlu(MatchedMatrix matched, const Factor& factor, Device device);

  Array<std::int32_t> row_of_column_;
  Array<double> row_scale_, column_scale_;  // both by position in B
  std::unique_ptr<Preconditioner<double>> ilu_;
  FactorReport report_;
  mutable Vector<double> scaled_;
};

}  // namespace echelon
