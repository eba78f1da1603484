// SPDX-License-Identifier: BSD-3-Clause
// Choosing and launching the factorization's kernels, which live in translation units of a block size or a stencil each.
#pragma once

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_view.hpp"

namespace echelon {

/// Shared memory of a block of threads on the GPUs we build for.
constexpr int most_shared_bytes = 227 * 1024;

template <class T>
struct FactorRowsKernel {
  /// `generic` when the rows do not fit.
  FactorLaunch (*plan)(const WavefrontFactorView<T>& view, int processors);
  void (*start)(const WavefrontFactorView<T>& view, const FactorLaunch& launch);
};

/// b = 1 … 8
template <int B, class T>
FactorRowsKernel<T> factor_rows_kernel();
/// b = 1 on one of static_plans
template <class Static, class T>
FactorRowsKernel<T> factor_scalars_kernel();

/// b = 2 … 8 on one of static_plans; empty for any other b, and where the lists are faster
template <class Static>
FactorRowsKernel<double> factor_team_kernel(int block);

template <class Kernel>
void allow_shared(Kernel* kernel, int bytes) {
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute");
}

}  // namespace echelon
