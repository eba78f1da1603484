// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of iterated triangular solves over a range of positions, for each SIMD target and block size, chosen at run time.
// b = 1 … 4 are specialised, others run a generic kernel; the results are the same bits.
#pragma once

#include "echelon/sweep/iterated/iterated_row.inl"

namespace echelon {

template <class T>
struct IterationKernels {
  /// `scratch` holds 2 b scalars.
  using Range = void (*)(const IterationView<T>& view, std::int64_t begin, std::int64_t end, T* scratch);
  Range first = nullptr, compact = nullptr, noncompact = nullptr, neumann = nullptr;
  Range blocks = nullptr;  // begin must be a multiple of rows_a_block
};

/// Narrow kernels (16-bit distances) exist for block 1.
template <class T>
IterationKernels<T> iteration_kernels(int block, bool narrow, bool lower);

}  // namespace echelon
