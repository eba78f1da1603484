// SPDX-License-Identifier: BSD-3-Clause
// y = A x on a GPU for a structured matrix in user order, values [entry][point][column][row], vectors in natural order.
// Every scalar row is one chain of fma from 0 over entries and columns in ascending order: the host's bits. Bytes a point:
// 8 b² an entry and 16 b.
#pragma once

#include "echelon/base/array.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

/// As the kernels take it; all pointers on the device.
template <class T>
struct DeviceProductView {
  int nx, ny, nz, block, entries;
  const Offset* offsets;
  const T* values;
  const T* x;
  T* y;
};

/// Queues the product. Null when the build has no CUDA.
template <class T>
using DeviceProductKernel = void (*)(int device, const DeviceProductView<T>& view);
template <class T>
DeviceProductKernel<T> device_product_kernel();

template <class T>
class DeviceProduct {
 public:
  /// Throws Error(device) without CUDA in this build, bad_argument for a device that is the host or sides of 2³¹ and more.
  DeviceProduct(Grid grid, const Stencil& stencil, int dof, Device device);
  /// Queued, not waited for. All arrays are on the device; x and y do not overlap.
  void apply(const T* values, const T* x, T* y) const;

 private:
  Device device_;
  Array<Offset> offsets_;
  DeviceProductView<T> view_{};
};

}  // namespace echelon
