// SPDX-License-Identifier: BSD-3-Clause
// A case on hypre's structured grid: each rank owns whole planes (lines in 2-D), and the values are those of our matrix, an
// entry at a time. Of a symmetric matrix hypre stores the half it needs. Only hypre's multigrid sees this.
#pragma once

#include <HYPRE_struct_ls.h>

#include "bench/measure/bench_case.hpp"
#include "echelon/base/array.hpp"

namespace echelon::bench {

class HypreGrid {
 public:
  /// Throws Error(bad_argument) when a rank would own nothing.
  explicit HypreGrid(const BenchCase& one);
  ~HypreGrid();
  HypreGrid(const HypreGrid&) = delete;
  HypreGrid& operator=(const HypreGrid&) = delete;

  /// x = 0.
  void start();
  /// x on rank 0, empty elsewhere.
  Vector<double> gathered() const;

  HYPRE_StructMatrix A = nullptr;
  HYPRE_StructVector b = nullptr, x = nullptr;

 private:
  void fill_matrix(const BenchCase& one);

  int axes_ = 3;
  std::int64_t first_ = 0, points_ = 0;  // of this rank
  HYPRE_Int lower_[3] = {}, upper_[3] = {};
  HYPRE_StructGrid grid_ = nullptr;
  HYPRE_StructStencil stencil_ = nullptr;
};

}  // namespace echelon::bench
