// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/fixed_point/device_threshold_view.hpp"

namespace echelon {
const DeviceFixedPointKernels* device_fixed_point_kernels() { return nullptr; }
const DeviceThresholdKernels* device_threshold_kernels() { return nullptr; }
}  // namespace echelon
