// SPDX-License-Identifier: BSD-3-Clause
// The two sweeps of a block CSR factorization on a GPU (row_sweep.cuh), z = U⁻¹ L⁻¹ r on one vector or on several at once,
// with the words and the state that they need. One application at a time.
#pragma once

#include <span>
#include <string>

#include "echelon/base/array.hpp"
#include "echelon/factor/rows_gpu/device_triangles.hpp"
#include "echelon/sweep/rows_gpu/row_sweep_view.hpp"

namespace echelon {

/// A triangle of factors that lie on a GPU, as its sweep reads it. `order` is empty when natural.
RowSweepView sweep_view(const DeviceTriangle& triangle, bool lower, int block, const Array<double>& values,
                        const Array<double>& inverse_diagonal, const Array<std::int32_t>& order);
class RowSweeps {
 public:
  RowSweeps() = default;
  /// Triangles and order as the views have them; the rest is set here. What they point to must outlive this.
  RowSweeps(const RowSweepView& lower, const RowSweepView& upper, Device device, double patience_seconds);

  /// Queued, not waited for.
  void apply(const double* r, double* z);
  /// Its two halves, for who measures them: L⁻¹ r stays inside until `upper` takes it.
  void lower(const double* r);
  void upper(double* z);
  /// The upper half alone, z = U⁻¹ r; both may be the same.
  void upper(const double* r, double* z);
  /// As many z as r, each of the bits of `apply`. Takes memory the first time, Error(will_not_fit) without room.
  void apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z);
  /// Waits for the sweeps so far. Throws Error(device) when one was given up.
  void check();
  /// The same for who brings the state to the host himself, together with other numbers.
  const RowSweepState* state() const { return state_.data(); }
  void check(const RowSweepState& now);
  std::int64_t bytes() const { return words_.bytes() + words_of_many_.bytes() + state_.bytes(); }

  /// "rows, b=3"; for sweeps by one block of threads "rows of one block, b=3"
  std::string kernel() const;

  /// For tests: nobody takes the first tickets of the next sweep, and waits are given up after so long.
  void leave_out(int tickets, double patience_seconds);

 private:
  void apply_together(std::span<const Vector<double>> r, std::span<Vector<double>> z);
  void set_state(const RowSweepState& first);

  Device device_;
  RowSweepView lower_, upper_;
  Array<RowSweepWord> words_, words_of_many_;
  Array<RowSweepState> state_;
};

}  // namespace echelon
