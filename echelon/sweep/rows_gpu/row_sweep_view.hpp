// SPDX-License-Identifier: BSD-3-Clause
// Triangular sweeps of a block CSR factorization on a GPU as the kernels see them, and the table of launches that host code
// calls. Pointers are the device's. A scalar of x goes from row to row as a word of value and tag: the tag is the launch's
// epoch, so nothing is cleared between sweeps.
#pragma once

#include <cstdint>

#include "echelon/base/cuda/row_sweep_state.hpp"
#include "echelon/sweep/rows_gpu/one_block_plan.hpp"

namespace echelon {

struct RowSweepView {
  static constexpr int most_columns = 4;
  std::int64_t rows = 0;
  int columns = 1;  // vectors that are swept together, 1, 2 or 4; blocks of more than 8 one by one
  int block = 1;
  bool lower = true;
  double mean_entries = 0;              // of a row
  int longest = 0;                      // no row has more
  std::int64_t levels = 0;              // where tickets are by depth
  bool scattered = false;               // rows wait for none that is near
  const std::int64_t* start = nullptr;  // by sweep position, as in triangles.hpp
  const std::int32_t* distance = nullptr;
  const double* values = nullptr;
  const double* inverse_diagonal = nullptr;  // U only
  const std::int32_t* tickets = nullptr;     // null: position = ticket
  const std::int32_t* order = nullptr;       // row of the sweep → row of r and x; null when they are the same
  const double* r[most_columns] = {};        // null: what the sweep before left in the words
  double* x[most_columns] = {};              // null: only the words are written
  RowSweepWord* words = nullptr;             // of every scalar row `columns`
  RowSweepState* state = nullptr;
  unsigned blocks = 1;     // of threads
  OneBlockPlan one_block;  // where one block of threads has all rows
};

struct RowSweepKernels {
  /// Sets whether one block has all rows, or how many fill the device with this sweep or have work.
  void (*plan)(int device, RowSweepView& view);
  /// Queued, not waited for.
  void (*launch)(int device, const RowSweepView& view);
};

/// Null when the build has no CUDA.
const RowSweepKernels* row_sweep_kernels();

}  // namespace echelon
