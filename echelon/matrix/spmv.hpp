// SPDX-License-Identifier: BSD-3-Clause
// The kernels behind the products of BlockCsr, StructMatrix and block diagonals: y = A x, or y = b − A x with the product
// rounded first. Every scalar row is one chain of fma from 0, over stored blocks and their columns in ascending order, on
// every machine, thread count and place. A kernel handles a range for one thread; the tables hold one kernel a block size.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/stencil/shapes.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

template <class T>
struct SpmvVectors {
  const T* x;
  T* y;
  const T* b;  // null: y = A x
};

/// A structured matrix in user order, as the kernels take it.
template <class T>
struct StructView {
  Grid grid;
  std::span<const Offset> offsets;
  int block;
  const T* values;
};

template <class T>
struct SpmvKernels {
  using Rows = void (*)(const BlockCsrView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end);
  using Points = void (*)(const StructView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end);
  using Diagonal = void (*)(int b, const T* blocks, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end);
  /// sums[s] = Σ|a| over scalar row s of a line of the grid, entries and columns in ascending order
  using Sizes = void (*)(const StructView<T>& A, std::int64_t line, double* sums);
  std::array<Rows, shapes::largest_block + 1> rows;      // of block CSR
  std::array<Points, shapes::largest_block + 1> points;  // of a grid
  std::array<Diagonal, shapes::largest_block + 1> diagonal;
  std::array<Sizes, shapes::largest_block + 1> sizes;  // of a grid
};

/// The tables for this machine's instruction set, chosen once.
template <class T>
const SpmvKernels<T>& spmv_kernels();

}  // namespace echelon
