// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/grid_gpu/wavefront_many_launch.cuh"

namespace echelon::device {
namespace {

template <int K>
void launch_columns(const WavefrontManyView& many) {
  if (many.sweep.plan.lines_a_thread == 1) return launch_many<1, K, 1>(many);
  if (many.sweep.plan.lines_a_thread == 2) return launch_many<1, K, 2>(many);
  no_many_kernel(many);
}

}  // namespace

void launch_many_scalars(const WavefrontManyView& many) {
  if (many.columns == 2) return launch_columns<2>(many);
  if (many.columns == 4) return launch_columns<4>(many);
  if (many.columns == 8) return launch_columns<8>(many);
  no_many_kernel(many);
}

}  // namespace echelon::device
