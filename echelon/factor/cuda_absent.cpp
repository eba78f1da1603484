// SPDX-License-Identifier: BSD-3-Clause
// The GPU's tables of this folder in a build without CUDA: there are none.
#include "echelon/factor/fixed_point/device_threshold_view.hpp"
#include "echelon/factor/grid_gpu/unit_triangles_row.inl"
#include "echelon/factor/grid_gpu/wavefront_factor_view.hpp"
#include "echelon/factor/rows_gpu/device_pattern_view.hpp"
#include "echelon/factor/rows_gpu/row_factor_view.hpp"

namespace echelon {
const DeviceFixedPointKernels* device_fixed_point_kernels() { return nullptr; }
const DeviceThresholdKernels* device_threshold_kernels() { return nullptr; }
template <>
const WavefrontFactorKernels<double>* wavefront_factor_kernels<double>() {
  return nullptr;
}
template <>
const WavefrontFactorKernels<float>* wavefront_factor_kernels<float>() {
  return nullptr;
}
const PatternKernels* pattern_kernels() { return nullptr; }
const RowFactorKernels* row_factor_kernels() { return nullptr; }
}  // namespace echelon

namespace echelon::unit_triangles {
Launch launch() { return nullptr; }
}  // namespace echelon::unit_triangles
