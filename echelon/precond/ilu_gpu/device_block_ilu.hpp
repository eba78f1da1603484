// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU(k) and IC(k) of a block CSR matrix as a preconditioner on a GPU: z = U⁻¹ L⁻¹ r, the bits of the host's `ilu` and
// `ic` and the same verdicts about pivots. Ordering and fill are found on the host, once; triangles and the order of their
// rows (factor/rows_gpu/device_triangles), factorization (factor/rows_gpu/row_factor) and sweeps (sweep/rows_gpu/row_sweep)
// are the device's, without levels or barriers, rows taken by tickets. `options.trisolve` may ask for an iteration instead
// of the exact sweeps (sweep/iterated/device_iterations), also with the host's bits.
#pragma once

#include <memory>

#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/ilu/ilu.hpp"

namespace echelon {

class DeviceBlockIlu final : public Preconditioner<double> {
 public:
  /// `A` is square and on a GPU; `positive` (IC) needs it symmetric, which is the caller's to know. The schedule
  /// `sequential` takes rows in elimination order, `automatic` too unless many wait for the one just before them, others by
  /// depth: the bits are the same. Throws Error(bad_argument) for a
  /// matrix on the host and for factors stored shorter than FP64; will_not_fit without room.
  DeviceBlockIlu(const BlockCsr<double>& A, const IluOptions& options, bool positive = false);
  DeviceBlockIlu(DeviceBlockIlu&&) noexcept;
  DeviceBlockIlu& operator=(DeviceBlockIlu&&) noexcept;
  ~DeviceBlockIlu() override;

  /// Queued, not waited for; vectors in A's order. They may be one.
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  /// The two halves of the exact sweeps, for who measures them: L⁻¹ r stays inside until `upper` takes it.
  void lower(const Vector<double>& r) const;
  void upper(Vector<double>& z) const;
  /// Takes memory for the words of several vectors the first time; iterations take one vector after the other.
  void apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) const override;
  void settle() const override;
  const FactorReport& report() const override;
  /// New values of the same pattern (Error(structure) otherwise). Allocates nothing, but for the measures of an iteration.
  [[nodiscard]] const FactorReport& refactor(const BlockCsr<double>& A);

  /// Copies on the host, as Ilu's, in elimination order: L unit lower (strict part), D⁻¹, strict U by rows n−1, n−2, ….
  /// For tests and study.
  struct Factors {
    Array<double> lower, inverse_diagonal, upper;
  };
  Factors factors() const;

  /// For tests: nobody takes the first so many rows of the next factorization or sweep, and waits are given up after so
  /// long.
  void leave_out_of_factorization(int rows, double patience_seconds);
  void leave_out_of_sweep(int tickets, double patience_seconds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace echelon
