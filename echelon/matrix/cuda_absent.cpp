// SPDX-License-Identifier: BSD-3-Clause
// The GPU's tables of this folder in a build without CUDA: there are none.
#include "echelon/matrix/grid_gpu/device_product.hpp"
#include "echelon/matrix/grid_gpu/injection_row.inl"
#include "echelon/matrix/grid_gpu/tile_convert_view.hpp"
#include "echelon/matrix/grid_gpu/tile_product_view.hpp"
#include "echelon/matrix/grid_gpu/tile_traits.inl"
#include "echelon/matrix/rows_gpu/csr_product_view.hpp"

namespace echelon {
template <>
DeviceProductKernel<double> device_product_kernel<double>() {
  return nullptr;
}
template <>
DeviceProductKernel<float> device_product_kernel<float>() {
  return nullptr;
}
template <class T>
const TileConvertKernels<T>* tile_convert_cuda() {
  return nullptr;
}
template const TileConvertKernels<double>* tile_convert_cuda();
template const TileConvertKernels<float>* tile_convert_cuda();
const TileProductKernels* tile_product_kernels() { return nullptr; }
const CsrProductKernels* csr_product_kernels() { return nullptr; }
}  // namespace echelon

namespace echelon::tile_traits {
const Kernels* kernels() { return nullptr; }
}  // namespace echelon::tile_traits

namespace echelon::injection {
const Kernels* kernels() { return nullptr; }
}  // namespace echelon::injection
