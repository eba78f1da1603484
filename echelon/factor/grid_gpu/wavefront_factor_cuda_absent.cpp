// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/grid_gpu/wavefront_factor_view.hpp"

namespace echelon {
template <>
const WavefrontFactorKernels<double>* wavefront_factor_kernels<double>() {
  return nullptr;
}
template <>
const WavefrontFactorKernels<float>* wavefront_factor_kernels<float>() {
  return nullptr;
}
}  // namespace echelon
