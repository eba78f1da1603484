// SPDX-License-Identifier: BSD-3-Clause
// The table of device_threshold_view.hpp: its steps on a GPU.
#include "echelon/factor/fixed_point/device_place.cuh"
#include "echelon/factor/fixed_point/device_threshold_steps.inl"

namespace echelon {

const DeviceThresholdKernels* device_threshold_kernels() {
  static const DeviceThresholdKernels table = threshold_steps::table<DevicePlace>();
  return &table;
}

}  // namespace echelon
