// SPDX-License-Identifier: BSD-3-Clause
// What the rows of an ILUT factorization read and write, and a thread's own memory. The mathematics is in ilut_row.inl, the
// threads in ilut.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "echelon/factor/ilut/column_set.hpp"
#include "echelon/factor/ilut/row_store.hpp"
#include "echelon/factor/ilut/upper_row.hpp"
#include "echelon/factor/pivots/factor_bounds.hpp"
#include "echelon/factor/pivots/pivot_rules.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

/// What the triangles are written from: a row of L, values and then columns, and how long the row of U is.
template <class T>
struct FinishedRow {
  const T* lower_values = nullptr;
  std::int32_t lower_count = 0, upper_count = 0;

  const std::int32_t* lower_columns(std::int64_t block_scalars) const {
    return reinterpret_cast<const std::int32_t*>(lower_values + lower_count * block_scalars);
  }
};

/// A row of U is there when its pointer is. Rows are finished in any order that a dependency allows; who needs one waits.
using RowPointer = std::atomic<std::byte*>;

/// Spins for a while and then yields; null when the row will never be there.
std::byte* wait_for_row(const RowPointer& row, const std::atomic<bool>& abandoned);

template <class T>
struct IlutView {
  BlockCsrView<T> A;
  const std::int32_t* order;  // position → user's block row; null when natural
  std::int32_t* position;     // user's block column → position; null when natural. Pivoting exchanges what lies ahead.
  std::int32_t* column_at;    // pivoting: the inverse of position
  std::int64_t lfil;
  double drop;
  double pivoting;       // 0: none
  FinishedRow<T>* rows;  // by position; columns ascending positions
  RowPointer* upper;     // UpperRow; with pivoting its columns are the user's, since their positions may still change
  const std::atomic<bool>* abandoned;  // a thread met an exception: nobody may wait for its rows
  PivotRules rules;
};

/// One thread's own.
template <class T>
struct IlutWorkspace : PivotWorkspace<T> {
  IlutWorkspace(std::int64_t n, std::int64_t bytes_a_triangle)
      : members(n),
        columns(n + padding),
        sizes(n + padding),
        cut_sizes(n),
        lower(bytes_a_triangle),
        upper(bytes_a_triangle) {}
  static constexpr std::int64_t padding = 64;  // short lists are compared in whole vectors

  ColumnSet members;                      // empty between rows
  T* dense = nullptr;                     // block 1: n scalars, zero between rows, and one that nobody reads
  std::int32_t* slot = nullptr;           // blocks: column → place of its block, −1 between rows
  std::vector<T> blocks;                  // blocks: the row, in order of appearance
  std::vector<std::int32_t> appeared;     // blocks: their columns
  Array<std::int32_t> columns;            // candidates of a triangle
  Array<T> values;                        // block 1: their values
  Array<double> sizes, cut_sizes;         // their norms, and a copy to cut
  double last_cut[2] = {};                // the sizes at which rows of L and of U were cut last
  std::vector<std::int32_t> cut_columns;  // columns of equal norms
  RowStore lower, upper;                  // apart: eliminations then find rows of U side by side
  std::int64_t limited_rows = 0;          // with more candidates than lfil in a triangle
  std::int64_t swaps_made = 0;            // of columns
  std::int64_t operations = 0;            // entries of rows of U that were subtracted
  std::int64_t widest = 0;                // largest |row − column|; block 1 without pivoting
  FactorBounds bounds;                    // block 1
};

/// False when the rows were abandoned by another thread.
template <class T>
using IlutRange = bool (*)(const IlutView<T>& view, std::int64_t begin, std::int64_t end, IlutWorkspace<T>& work);

/// Pivoting kernels exist for block 1. b = 2 … 5 are specialised, others run a generic one; the results are the same bits.
template <class T>
IlutRange<T> ilut_kernel(int block, bool pivoting);
template <class T>
IlutRange<T> ilut_block_kernel(int block);
/// "rows with thresholds, b=3", for reports.
std::string ilut_kernel_name(int block, bool pivoting);

}  // namespace echelon
