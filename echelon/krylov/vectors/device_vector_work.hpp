// SPDX-License-Identifier: BSD-3-Clause
// What VectorOps holds when its vectors are on a GPU: the kernels, scratch for their sums, and the memory through which a
// total reaches the host. Waiting for totals is counted (base/transfers.hpp). Private to vector_ops.
#pragma once

#include <memory>
#include <span>

#include "echelon/base/array.hpp"
#include "echelon/krylov/vectors/device_vector_kernels.hpp"

namespace echelon {

class DeviceVectorWork {
 public:
  /// `sums`: the most one call has. Throws Error(device) when the build has no CUDA.
  DeviceVectorWork(std::int64_t n, int sums, Device device);

  const DeviceVectorKernels& run() const { return kernels_; }
  /// For a reduction whose totals are then taken, all of them, before the next one is queued. What has thrown in between is
  /// not used again.
  const DeviceSums& at() const { return at_; }
  /// For one sum that nobody asks for.
  const DeviceSums& unread() const { return unread_; }
  /// The totals of the last reduction, once they are there.
  void take_totals(std::span<double> to) const;
  double largest(const double* x) const;
  /// x ← 0
  void clear(double* x) const;

 private:
  const DeviceVectorKernels& kernels_;
  Array<double> partial_;
  std::unique_ptr<double, void (*)(double*)> totals_;
  DeviceSums at_, unread_;
};

/// Sums that stay on the GPU as factors of later work, in numbered slots, so that a whole iteration is queued without the
/// host; the host reads them behind a mark, while what was queued after it runs.
class QueuedSums {
 public:
  QueuedSums(const DeviceVectorWork& work, int slots);

  /// The sum of one slot over that of another.
  struct Quotient {
    int over, under;
  };
  void dot(const Vector<double>& x, const Vector<double>& y, int slot) const;
  /// The sum of numbers that lie on the device.
  void add_parts(const Array<double>& parts, int slot) const;
  /// y ← x + a y
  void xpay(const Vector<double>& x, Quotient a, Vector<double>& y) const;
  /// r ← r − a q, and r·r; r stays unless both numbers of a are positive and finite.
  void cg_residual(Quotient a, const Vector<double>& q, Vector<double>& r, int slot) const;

  /// A step that x has not taken yet: x ← x + alpha direction.
  struct LaggingStep {
    Quotient alpha;
    const double* direction;
  };
  using Lagging = std::span<const LaggingStep>;
  /// x takes the steps, in their order, but for those whose numbers are not both positive and finite.
  void cg_solution(Lagging steps, Vector<double>& x) const;
  /// p_next ← z + beta p
  void cg_direction(Quotient beta, const Vector<double>& z, const Vector<double>& p, Vector<double>& p_next) const;
  /// The same; before it x takes the LaggingSteps::most steps, the last one along p. One of them may be along p_next.
  void cg_direction(Quotient beta, const Vector<double>& z, Vector<double>& p_next, Lagging steps, Vector<double>& x) const;

  /// g'D⁻¹g
  void weighted_square(const Vector<double>& inverse, const Vector<double>& g, int slot) const;
  /// diagonal ← 2 / inverse − diagonal
  void excess(const Vector<double>& inverse, Vector<double>& diagonal) const;
  /// What stands between the sweeps of Eisenstat's form (device_vector_kernels.hpp).
  void eisenstat_right_side(const EisenstatImage& image, int slot) const;
  void eisenstat_update(Quotient alpha, const EisenstatUpdate& to, int slot) const;
  /// The same; before it x takes the LaggingSteps::most − 1 steps, and then its own.
  void eisenstat_update(Quotient alpha, const EisenstatUpdate& to, Lagging steps, Vector<double>& x, int slot) const;

  void set_mark() const;
  /// Until all before the mark is done; `scalars` is how many slots will be read.
  void await_mark(int scalars) const;
  double operator[](int slot) const { return totals_.get()[slot]; }

 private:
  DeviceSums into(int slot) const;
  DeviceScalar scalar(Quotient a) const;
  LaggingSteps on_device(Lagging steps) const;

  const DeviceVectorWork& work_;
  std::unique_ptr<double, void (*)(double*)> totals_;
  Array<double> kept_;
  std::unique_ptr<void, void (*)(void*)> mark_;
};

}  // namespace echelon
