// SPDX-License-Identifier: BSD-3-Clause
// Kernels that DBSR's are held against, for the same orders and factors, compiled once an instruction set:
//   factorization of rows in CSR; DBSR lane by lane without SIMD; DBSR with SIMD that gathers x although it lies in a row;
//   SELL-C-σ, C = bsize, σ = a group: a column index of 32 bits a value, x gathered, with and without SIMD.
// The compiler is kept from vectorising what shall be scalar. Sums are the chains of the library's kernels: the same bits.
#pragma once

#include <cstdint>

#include "echelon/sweep/dbsr/dbsr_sweep.hpp"

namespace echelon::bench {

/// A permuted, its triangles apart as the sweeps read them: U's rows from the last on, its entries ascending; the distances
/// |j − i| in front of the values.
template <class T>
struct CsrFactorView {
  std::int64_t rows;
  const std::int64_t* start;
  const std::int32_t* column;
  const T* value;
  const std::int64_t *lower_start, *upper_start;
  const std::int32_t *lower_distance, *upper_distance;
  T *lower, *upper, *inverse;
};
/// Rows [begin, end); entries outside columns [first, last) do not count. `where`: −1 for each row; `row`: of the longest.
template <class T>
using CsrFactorRows = void (*)(const CsrFactorView<T>& view, std::int64_t begin, std::int64_t end, std::int64_t first,
                               std::int64_t last, std::int32_t* where, T* row);
template <class T>
CsrFactorRows<T> csr_factor_rows();

/// A triangle in SELL: slot n of block row i begins at (start[i] + n)·bsize of both arrays, in the order of the chain.
struct SellTriangleView {
  const std::int64_t* start;
  const std::int32_t* column;
  const void* values;
};
template <class T>
struct SellSweepView {
  SellTriangleView lower, upper;
  const T* inverse;
  const T* r;
  T* x;
};
template <class T>
struct SellSweepKernels {
  using Rows = void (*)(const SellSweepView<T>& view, std::int64_t begin, std::int64_t end);
  Rows lower = nullptr, upper = nullptr;
};

/// bsize 4 … 64; triangles stored as the vectors are.
template <class T>
struct RivalDbsrKernels {
  DbsrSweepKernels<T> sweeps;
  void (*multiply)(const DbsrView<T>& A, const T* x, T* y, std::int64_t begin, std::int64_t end) = nullptr;
};
template <class T>
RivalDbsrKernels<T> plain_dbsr_kernels(int bsize);
template <class T>
DbsrSweepKernels<T> gathering_dbsr_kernels(int bsize);
template <class T>
SellSweepKernels<T> sell_kernels(int bsize, bool simd);

}  // namespace echelon::bench
