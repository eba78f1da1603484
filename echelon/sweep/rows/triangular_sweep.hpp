// SPDX-License-Identifier: BSD-3-Clause
// Exact triangular sweeps over a range of positions, compiled for each SIMD target and block size and chosen at run time.
// b = 1 … 8 are specialised, others run a generic kernel; the results are the same bits.
#pragma once

#include "echelon/sweep/rows/rows_together.inl"

namespace echelon {

template <class T>
struct SweepKernels {
  using Range = void (*)(const SweepView<T>& view, std::int64_t begin, std::int64_t end, T* scratch);
  Range lower = nullptr, upper = nullptr;
};

/// Narrow kernels (16-bit distances) exist for block 1.
template <class T>
SweepKernels<T> sweep_kernels(int block, bool narrow);

/// For views of block 1 that say which rows go together; the same bits.
template <class T>
SweepKernels<T> sweep_kernels_together(bool narrow);

}  // namespace echelon
