// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU(k) and IC(k) of a structured matrix as a preconditioner on a GPU: z = U⁻¹ L⁻¹ r in tile order, factored and
// swept there (factor/grid_gpu/wavefront_factor, sweep/grid_gpu/wavefront_sweep), the bits of the host's `ilu` and `ic`.
// Factors may be kept in FP32, BF16 or FP16, guarded as on the host: what leaves the range is reported, and wider storage
// taken.
#pragma once

#include <memory>

#include "echelon/matrix/grid_gpu/tile_matrix.hpp"
#include "echelon/matrix/operator.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/preconditioner.hpp"

namespace echelon {

class DeviceIlu final : public Preconditioner<double> {
 public:
  /// `A` is on a GPU, in the order of `options.fill`; `positive` (IC) needs it symmetric. Throws Error(bad_argument) for
  /// another order, an ordering that is not natural, or a matrix on the host; will_not_fit without room.
  DeviceIlu(const TileMatrix& A, const IluOptions& options, bool positive = false);
  DeviceIlu(DeviceIlu&&) noexcept;
  DeviceIlu& operator=(DeviceIlu&&) noexcept;
  ~DeviceIlu() override;

  /// Queued, not waited for; vectors in A's order. They may be one.
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  /// Takes memory for borders the first time.
  void apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) const override;
  void settle() const override;
  const FactorReport& report() const override;
  std::unique_ptr<QueuedTriangles<double>> queued_triangles(const Operator<double>& A) const override;
  /// New values of the same shape (Error(structure) otherwise).
  [[nodiscard]] const FactorReport& refactor(const TileMatrix& A);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace echelon
