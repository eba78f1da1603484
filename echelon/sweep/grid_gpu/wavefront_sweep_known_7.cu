// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/grid_gpu/wavefront_sweep_known_launch.cuh"

namespace echelon::device {
template SweepKernel known_block_kernel<7>(const WavefrontSweepView&, int, Stored);
}  // namespace echelon::device
