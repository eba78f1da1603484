// SPDX-License-Identifier: BSD-3-Clause
// Sweeps in diagonal block rows, colour by colour; within a colour threads take groups of blocks, and lanes the blocks of a
// group. For A = L + D + U, each a chain of fma in fixed order (L: columns ascending, U: descending):
//   lower          x = r − L x                     of unit triangles            upper     x = D⁻¹ (r − U x)
//   forward_zero   w = r − L x, x = D⁻¹ w          Gauss-Seidel from x = 0; then upper with r = w is the backward sweep
//   forward_guess  w = r − L x, x = D⁻¹ (w − U x)  from any x; then upper with r = w
//   residual       w = r − w − L x                 after both sweeps from zero: r − A x
// Bytes a stored block: 8·bsize (4 in FP32) + 5; a position: 8 of each vector and of D⁻¹.
// Reads are safe: no row of a colour has an entry in it but in its own lane, and a load that begins in another colour ends
// in the row of guard behind it at the latest, so nothing is read that another thread writes or that was never written.
#pragma once

#include "echelon/base/stored.hpp"
#include "echelon/matrix/dbsr/block_colouring.hpp"
#include "echelon/matrix/dbsr/dbsr_view.hpp"

namespace echelon {

template <class T>
struct DbsrSweepView {
  DbsrTriangleView lower, upper;
  const void* inverse;  // D⁻¹ by position, stored as the triangles are; 0 in padding
  const T* r;
  T* x;
  T* w;
};

template <class T>
struct DbsrSweepKernels {
  /// Block rows [begin, end); upper walks them downwards.
  using Rows = void (*)(const DbsrSweepView<T>& view, std::int64_t begin, std::int64_t end);
  Rows lower = nullptr, upper = nullptr;
  Rows forward_zero = nullptr, forward_guess = nullptr, residual = nullptr;  // triangles stored as the vectors are
};

/// bsize 1, 2, 4 … 64; triangles and D⁻¹ in `stored`: fp64 or fp32, not wider than T. Null otherwise.
template <class T>
DbsrSweepKernels<T> dbsr_sweep_kernels(int bsize, Stored stored);

/// Runs a kernel over the colours, the first first or the last first.
enum class ColourOrder { ascending, descending };
template <class T>
void run_colours(const BlockColouring& order, ColourOrder direction, int team, typename DbsrSweepKernels<T>::Rows kernel,
                 const DbsrSweepView<T>& view);

}  // namespace echelon
