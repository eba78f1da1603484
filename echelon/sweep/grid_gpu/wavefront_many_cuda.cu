// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/grid_gpu/wavefront_many_launch.cuh"

namespace echelon {
namespace {

void launch(int device, const WavefrontManyView& many) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  many.sweep.dof == 1 ? device::launch_many_scalars(many) : device::launch_many_blocks(many);
}

}  // namespace

const WavefrontManyBackend* wavefront_many_backend() {
  static const WavefrontManyBackend table{launch};
  return &table;
}

}  // namespace echelon
