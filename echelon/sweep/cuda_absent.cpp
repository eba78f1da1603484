// SPDX-License-Identifier: BSD-3-Clause
// The GPU's tables of this folder in a build without CUDA: there are none.
#include "echelon/sweep/grid_gpu/wavefront_many_view.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep_view.hpp"
#include "echelon/sweep/iterated/device_iteration_view.hpp"
#include "echelon/sweep/rows_gpu/row_sweep_view.hpp"

namespace echelon {
const WavefrontManyBackend* wavefront_many_backend() { return nullptr; }
const IterationLaunches* iteration_launches() { return nullptr; }
const WavefrontSweepBackend* wavefront_sweep_backend() { return nullptr; }
const RowSweepKernels* row_sweep_kernels() { return nullptr; }
}  // namespace echelon
