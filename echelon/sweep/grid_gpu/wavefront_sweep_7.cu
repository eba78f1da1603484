// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/grid_gpu/wavefront_sweep_launch.cuh"

namespace echelon::device {
template void launch_block_sweep<7>(const WavefrontSweepView&, int, Stored);
}  // namespace echelon::device
