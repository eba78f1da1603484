// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/vectors/device_vector_kernels.hpp"

namespace echelon {
const DeviceVectorKernels* device_vector_kernels() { return nullptr; }
}  // namespace echelon
