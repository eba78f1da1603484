// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/cuda/cuda_backend.hpp"

#include "echelon/sweep/grid_gpu/wavefront_sweep_view.hpp"

namespace echelon {
const CudaBackend* cuda_backend() { return nullptr; }
const WavefrontSweepBackend* wavefront_sweep_backend() { return nullptr; }
}  // namespace echelon
