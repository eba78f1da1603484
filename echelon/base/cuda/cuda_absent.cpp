// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/cuda_backend.hpp"

#include "echelon/sweep/wavefront_sweep_view.hpp"

namespace echelon {
const CudaBackend* cuda_backend() { return nullptr; }
const WavefrontSweepBackend* wavefront_sweep_backend() { return nullptr; }
}  // namespace echelon
