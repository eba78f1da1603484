// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/grid_gpu/wavefront_many_launch.cuh"

namespace echelon::device {
namespace {

template <int B>
void launch_block(const WavefrontManyView& many) {
  if (many.columns == 2) return launch_many<B, 2, 1>(many);
  if (many.columns == 4) return launch_many<B, 4, 1>(many);
  no_many_kernel(many);
}

}  // namespace

void launch_many_blocks(const WavefrontManyView& many) {
  if (many.sweep.plan.lines_a_thread != 1) no_many_kernel(many);
  switch (many.sweep.dof) {
    case 2: return launch_block<2>(many);
    case 3: return launch_block<3>(many);
    case 4: return launch_block<4>(many);
    case 5: return launch_block<5>(many);
    case 6: return launch_block<6>(many);
    case 7: return launch_block<7>(many);
    case 8: return launch_block<8>(many);
    default: no_many_kernel(many);
  }
}

}  // namespace echelon::device
