// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/grid_gpu/device_product.hpp"

namespace echelon {
template <>
DeviceProductKernel<double> device_product_kernel<double>() {
  return nullptr;
}
template <>
DeviceProductKernel<float> device_product_kernel<float>() {
  return nullptr;
}
}  // namespace echelon
