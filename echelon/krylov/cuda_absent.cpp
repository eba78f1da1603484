// SPDX-License-Identifier: BSD-3-Clause
// The GPU's tables of this folder in a build without CUDA: there are none.
#include "echelon/krylov/vectors/device_vector_kernels.hpp"

namespace echelon {
const DeviceVectorKernels* device_vector_kernels() { return nullptr; }
}  // namespace echelon
