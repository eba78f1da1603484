// SPDX-License-Identifier: BSD-3-Clause
// The table of device_fixed_point_view.hpp: its steps on a GPU.
#include "echelon/factor/fixed_point/device_fixed_point_steps.inl"
#include "echelon/factor/fixed_point/device_place.cuh"

namespace echelon {

const DeviceFixedPointKernels* device_fixed_point_kernels() {
  static const DeviceFixedPointKernels table = fixed_point_steps::table<DevicePlace>();
  return &table;
}

}  // namespace echelon
