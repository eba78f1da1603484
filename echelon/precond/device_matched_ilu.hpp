// SPDX-License-Identifier: BSD-3-Clause
// MatchedIlu on a GPU: rows are matched and scaled on the host, once; B = P R A C is factored and swept on the device
// (device_block_ilu.hpp). z = C (LU)⁻¹ P R r with the host's bits: the scales are powers of two.
#pragma once

#include "echelon/precond/device_block_ilu.hpp"
#include "echelon/precond/matched_ilu.hpp"

namespace echelon {

class DeviceMatchedIlu final : public Preconditioner<double> {
 public:
  /// `A` is on the host, block size 1. Throws as matched_matrix and DeviceBlockIlu do.
  DeviceMatchedIlu(const BlockCsr<double>& A, const IluOptions& options, Device device);
  /// Queued, not waited for; vectors on the device.
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  void settle() const override { ilu_.settle(); }
  const FactorReport& report() const override { return report_; }

 private:
  DeviceMatchedIlu(MatchedMatrix matched, const IluOptions& options, Device device);

  Array<std::int32_t> row_of_column_;
  Array<double> row_scale_, column_scale_;  // both by position in B
  DeviceBlockIlu ilu_;
  FactorReport report_;
  mutable Vector<double> scaled_;
};

}  // namespace echelon
