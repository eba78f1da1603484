// SPDX-License-Identifier: BSD-3-Clause
// SharedTriangles of a scalar stencil whose ILU(0) changes only the diagonal: the sweeps of struct_sweep.hpp, the vector
// work done on the lines of a group while they are in cache.
#pragma once

#include <memory>

#include "echelon/schedule/grid/line_groups.hpp"
#include "echelon/sweep/grid/shared_triangle_kernels.hpp"
#include "echelon/sweep/grid/struct_sweep.hpp"
#include "echelon/sweep/grid/struct_sweep_scratch.hpp"
#include "echelon/sweep/shared_triangles.hpp"

namespace echelon {

/// A factorization's sweeps as they stand. What is pointed to must outlive the object made from it.
template <class T>
struct StructSweeps {
  SharedTriangleArrays<T> arrays;        // A's and M's; `lower` the farthest entry first
  std::span<const TriangleEntry> upper;  // the farthest entry first
  StructSweepKernels<T> kernels;
  StructSweepSize size;
  const LentScratch<StructSweepScratch>* scratch;          // the factorization's: a sweep here is one more call of it
  const T *lower_packs = nullptr, *upper_packs = nullptr;  // what `kernels` reads instead of planes, when they do
};

/// For double; null for float, which no Krylov method uses.
template <class T>
std::unique_ptr<SharedTriangles<T>> struct_shared_triangles(const StructSweeps<T>& sweeps);

}  // namespace echelon
