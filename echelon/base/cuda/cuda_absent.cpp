// SPDX-License-Identifier: BSD-3-Clause
// The GPU's tables of this folder in a build without CUDA: there are none.
#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/cuda/device_numbers.hpp"

namespace echelon {
const CudaBackend* cuda_backend() { return nullptr; }
const NumberKernels* number_kernels() { return nullptr; }
}  // namespace echelon
