// SPDX-License-Identifier: BSD-3-Clause
// The vector work of the Krylov methods on a GPU: a table of launches that VectorOps calls for vectors that live there. Sums
// have the shape of reduction_tree.hpp, so the bits are those of the host for the same vectors. All is queued; totals are
// written to memory that both sides see, where the host looks for them (`await_totals`) or reads them behind a mark.
#pragma once

#include <cstdint>
#include <span>

#include "echelon/krylov/vectors/vector_kernels.hpp"

namespace echelon {

/// Where a reduction puts its parts and its totals.
struct DeviceSums {
  int device;
  std::int64_t n;   // length of the vectors
  double* partial;  // on the device: a number for every sum and block of threads
  double* totals;   // seen by host and device
  double* kept;     // where later kernels find them, on the device; null: they don't
};

/// A factor: a number the host has, or a quotient of two that a reduction left on the device.
struct DeviceScalar {
  double value = 0;
  const double* over = nullptr;
  const double* under = nullptr;
};

/// Steps that x has not taken yet, in their order: x ← x + Σ alpha d. Taken several at once they move fewer bytes.
struct LaggingSteps {
  static constexpr int most = 4;
  int count = 0;
  DeviceScalar alpha[most];
  const double* d[most];
};

/// Between two iterations of CG: p_next ← z + beta p, where p_next may be p or a lagging direction.
struct CgTurn {
  DeviceScalar beta;
  const double *z, *p;
  double* p_next;
};

template <class T>
struct DeviceBasisKernels {
  void (*multi_dot)(const DeviceSums& at, ColumnsView<T> V, const double* w);
  void (*subtract)(const DeviceSums& at, ColumnsView<T> V, const double* h, double* w);
  void (*subtract_and_store)(const DeviceSums& at, ColumnsView<T> V, const double* h, StoredColumn<T> to, double* w);
  void (*store_scaled)(const DeviceSums& at, double a, double* w, T* v);
};

struct DeviceBasisTable {
  DeviceBasisKernels<double> fp64;
  DeviceBasisKernels<float> fp32;
  void (*pair_dot)(const DeviceSums& at, ColumnsView<double> V, const double* w1, const double* w2);
  void (*pair_subtract)(const DeviceSums& at, ColumnsView<double> V, const PairStep& step, double* w1, double* w2);
};

/// Between the sweeps of Eisenstat's form (cg_eisenstat_queued.cpp).
struct EisenstatImage {
  const double *excess, *p, *t;
  double* y;
};
struct EisenstatUpdate {
  const double *inverse, *t, *y;
  double* g;
};

struct DeviceEisenstatKernels {
  /// g'D⁻¹g
  void (*weighted_square)(const DeviceSums& at, const double* inverse, const double* g);
  /// y ← p − excess t; t·(p + y), which is t'A t when A is symmetric
  void (*right_side)(const DeviceSums& at, const EisenstatImage& image);
  /// g ← g − alpha (D t + y); g'D⁻¹g. g stays unless alpha is a positive number over a positive one.
  void (*update)(const DeviceSums& at, DeviceScalar alpha, const EisenstatUpdate& to);
  /// The same; before it x takes the steps, all but one of the most there can be, and then its own, if that may be taken.
  void (*update_all)(const DeviceSums& at, DeviceScalar alpha, const EisenstatUpdate& to, const LaggingSteps& steps,
                     double* x);
  /// diagonal ← 2 / inverse − diagonal
  void (*excess)(const DeviceSums& at, const double* inverse, double* diagonal);
};

/// As in vector_kernels.hpp, on whole vectors; what is returned there is in `totals` here.
struct DeviceVectorKernels {
  void (*dot)(const DeviceSums& at, const double* x, const double* y);
  /// The sum of `count` numbers on the device.
  void (*add_parts)(const DeviceSums& at, const double* parts, std::int64_t count);
  void (*dot_and_square)(const DeviceSums& at, const double* x, const double* y);
  void (*scaled_square)(const DeviceSums& at, double a, const double* x);
  void (*axpy)(const DeviceSums& at, double a, const double* x, double* y);
  void (*xpay)(const DeviceSums& at, const double* x, DeviceScalar a, double* y);
  /// With a quotient that is not a positive number over a positive number x and r stay as they are.
  void (*cg_update)(const DeviceSums& at, DeviceScalar a, const double* p, const double* q, double* x, double* r);
  /// The same in parts: r, with r·r.
  void (*cg_residual)(const DeviceSums& at, DeviceScalar a, const double* q, double* r);
  /// x takes the steps that are a positive number over a positive one.
  void (*cg_solution)(const DeviceSums& at, const LaggingSteps& steps, double* x);
  void (*cg_direction)(const DeviceSums& at, const CgTurn& turn);
  /// The same; before it x takes the steps, as many as there can be, the last one along p.
  void (*cg_direction_all)(const DeviceSums& at, const CgTurn& turn, const LaggingSteps& steps, double* x);
  void (*bicgstab_direction)(const DeviceSums& at, double beta, double omega, const double* r, const double* v, double* p);
  void (*bicgstab_update)(const DeviceSums& at, const BicgstabStep& step);
  DeviceBasisTable basis;
  DeviceEisenstatKernels eisenstat;

  /// Numbers of `partial` that one sum takes for vectors of this length.
  std::int64_t (*parts)(std::int64_t n);
  /// Memory of the host that the device writes; no total is there yet.
  double* (*allocate_totals)(int device, std::int64_t count);
  void (*release_totals)(double* totals);
  /// Until the totals are there, which are then taken: `to` has them, and their places wait for the next.
  void (*await_totals)(int device, double* totals, std::span<double> to);
  /// A mark behind what is queued, which may be waited for while more is queued behind it.
  void* (*make_mark)(int device);
  void (*set_mark)(int device, void* mark);
  void (*await_mark)(void* mark);
  void (*release_mark)(void* mark);
};

/// Null when the build has no CUDA.
const DeviceVectorKernels* device_vector_kernels();
/// Its parts; only where there is CUDA.
DeviceBasisTable device_basis_kernels();
DeviceEisenstatKernels device_eisenstat_kernels();

}  // namespace echelon
