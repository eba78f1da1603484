// SPDX-License-Identifier: BSD-3-Clause
// What the rows of an ILUT factorization read and write, and a thread's own memory. The mathematics is in ilut_row.inl, the
// threads in ilut.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "echelon/factor/column_set.hpp"
#include "echelon/factor/pivot_rules.hpp"
#include "echelon/factor/row_store.hpp"
#include "echelon/matrix/block_csr.hpp"

namespace echelon {

/// Rows are finished in any order that a dependency allows; who needs one waits for it.
struct RowsDone {
  std::vector<std::atomic<std::uint8_t>> flags;
  std::atomic<bool> abandoned{false};  // a thread met an exception: nobody may wait for its rows

  /// Spins for a while and then yields; false when the row will never be there.
  bool wait_for(std::int64_t row) const;
};

template <class T>
struct IlutView {
  BlockCsrView<T> A;
  const std::int32_t* order;  // position → user's block row; null when natural
  std::int32_t* position;     // user's block column → position; null when natural. Pivoting exchanges what lies ahead.
  std::int32_t* column_at;    // pivoting: the inverse of position
  std::int64_t lfil;
  double drop;
  double pivoting;      // 0: none
  StoredRow<T>* lower;  // by position; columns ascending positions
  StoredRow<T>* upper;  // strict; with pivoting the columns are the user's, since their positions may still change
  T* inverse_diagonal;
  RowsDone* done;  // null: one thread, in order
  PivotRules rules;
};

/// One thread's own.
template <class T>
struct IlutWorkspace : PivotWorkspace<T> {
  explicit IlutWorkspace(std::int64_t n)
      : members(n), fresh(n), columns(n + padding), kept_columns(n + padding), sizes(n + padding), cut_sizes(n) {}
  static constexpr std::int64_t padding = 64;  // short lists are compared in whole vectors

  ColumnSet members;                      // empty between rows
  T* dense = nullptr;                     // block 1: n scalars, zero between rows
  std::int32_t* slot = nullptr;           // blocks: column → place of its block, −1 between rows
  std::vector<T> blocks;                  // blocks: the row, in order of appearance
  std::vector<std::int32_t> appeared;     // columns that came up: block 1 those right of the diagonal, maybe twice
  Array<std::int32_t> fresh;              // columns that one elimination step brings
  Array<std::int32_t> columns;            // candidates of a triangle
  Array<std::int32_t> kept_columns;       // those that stay
  Array<T> values, kept_values;           // block 1: their values
  Array<double> sizes, cut_sizes;         // their norms, and a copy to cut
  std::vector<std::int32_t> cut_columns;  // columns of equal norms
  RowStore<T> store;
  std::int64_t limited_rows = 0;  // with more candidates than lfil in a triangle
  std::int64_t swaps_made = 0;    // of columns
};

/// False when the rows were abandoned by another thread.
template <class T>
using IlutRange = bool (*)(const IlutView<T>& view, std::int64_t begin, std::int64_t end, IlutWorkspace<T>& work);

/// Pivoting kernels exist for block 1. b = 2 … 5 are specialised, others run a generic one; the results are the same bits.
template <class T>
IlutRange<T> ilut_kernel(int block, bool pivoting);
template <class T>
IlutRange<T> ilut_block_kernel(int block);

}  // namespace echelon
