// SPDX-License-Identifier: BSD-3-Clause
// ParILUT and ParICT as a preconditioner on a GPU: the rounds of factor/fixed_point/device_threshold, the sweeps of
// sweep/rows_gpu/row_sweeps; factors, verdicts and numbers of the host's `parilut` and `parict`. Another order than the
// natural one is found, and A put into it, on the host.
#pragma once

#include <memory>

#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/ilu/ilu.hpp"

namespace echelon {

class DeviceParilut final : public Preconditioner<double> {
 public:
  /// `A` is square, on a GPU, of blocks of size 1; `symmetric` (ParICT) needs it so, which is the caller's to know. Throws
  /// Error(bad_argument) for other matrices, will_not_fit without room.
  DeviceParilut(const BlockCsr<double>& A, const IluOptions& options, bool symmetric = false);
  DeviceParilut(DeviceParilut&&) noexcept;
  DeviceParilut& operator=(DeviceParilut&&) noexcept;
  ~DeviceParilut() override;

  /// Queued, not waited for; vectors in A's order. They may be one.
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  void apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) const override;
  void settle() const override;
  const FactorReport& report() const override;
  /// New values, and a new pattern if they want one; takes memory.
  [[nodiscard]] const FactorReport& refactor(const BlockCsr<double>& A);

  /// Copies on the host, in elimination order, for tests and study: L unit lower (strict part), D⁻¹, strict U by rows n−1,
  /// n−2, …, with starts and distances as in factor/rows/triangles.hpp.
  struct Factors {
    Array<std::int64_t> lower_start, upper_start;
    Array<std::int32_t> lower_distance, upper_distance;
    Array<double> lower, inverse_diagonal, upper;
  };
  Factors factors() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace echelon
