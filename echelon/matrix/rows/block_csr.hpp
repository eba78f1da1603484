// SPDX-License-Identifier: BSD-3-Clause
// Block compressed sparse rows: square blocks b×b, b = 1 being plain CSR. Columns ascend within a row and are unique; the
// constructor checks this and everything else a kernel relies on, once.
// A block's values are column-major: the lanes of a SIMD register or a warp run over the rows of a block.
// Indices are 32-bit, offsets and counts 64-bit.
#pragma once

#include <cstdint>
#include <span>

#include "echelon/base/array.hpp"
#include "echelon/matrix/operator.hpp"

namespace echelon {

/// Non-owning view that kernels take.
template <class T>
struct BlockCsrView {
  std::int64_t block_rows;
  int block;
  const std::int64_t* row_start;  // block_rows + 1
  const std::int32_t* column;     // block columns
  const T* values;                // block·block a block, column-major
};

template <class T>
class BlockCsr final : public Operator<T> {
 public:
  /// Takes over the arrays after checking them: sizes, monotone row_start, columns in range, ascending, unique. Throws
  /// Error naming the first offender. Values may be anything here, NaN included: `first_nonfinite` finds them.
  BlockCsr(std::int64_t block_rows, std::int64_t block_columns, int block, Array<std::int64_t> row_start,
           Array<std::int32_t> column, Array<T> values);

  std::int64_t block_rows() const { return block_rows_; }
  std::int64_t block_columns() const { return block_columns_; }
  int block() const { return block_; }
  std::int64_t rows() const override { return block_rows_ * block_; }
  std::int64_t columns() const { return block_columns_ * block_; }
  /// Stored blocks, and stored scalars.
  std::int64_t blocks() const { return column_.size(); }
  std::int64_t nonzeros() const { return values_.size(); }
  bool square() const { return block_rows_ == block_columns_; }

  std::span<const std::int64_t> row_start() const { return row_start_.span(); }
  std::span<const std::int32_t> column() const { return column_.span(); }
  std::span<const T> values() const { return values_.span(); }
  /// New values for the same pattern.
  std::span<T> values() { return values_.span(); }
  BlockCsrView<T> view() const { return {block_rows_, block_, row_start_.data(), column_.data(), values_.data()}; }
  /// Element (row, column) in scalar numbering; 0 when it is not stored. Binary search: for tests and messages.
  T at(std::int64_t row, std::int64_t column) const;
  Device device() const override { return values_.device(); }
  BlockCsr to(Device device) const;
  BlockCsr clone() const { return to(device()); }

  void apply(const Vector<T>& x, Vector<T>& y) const override;
  void residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const override;
  void careful_residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const override;
  double norm_inf() const override;

 private:
  struct Unchecked {};
  BlockCsr(Unchecked, std::int64_t block_rows, std::int64_t block_columns, int block, Array<std::int64_t> row_start,
           Array<std::int32_t> column, Array<T> values);

  std::int64_t block_rows_, block_columns_;
  int block_;
  Array<std::int64_t> row_start_;
  Array<std::int32_t> column_;
  Array<T> values_;
};

/// One stored scalar, zero-based.
template <class T>
struct Triplet {
  std::int32_t row;
  std::int32_t column;
  T value;
};

/// From triplets in any order; duplicates are summed in the order given. Returns how many were in `duplicates` if asked.
template <class T>
BlockCsr<T> from_triplets(std::int64_t rows, std::int64_t columns, std::span<const Triplet<T>> triplets,
                          std::int64_t* duplicates = nullptr);

/// The same matrix in blocks of `block` (absent scalars become stored zeros). Throws when the sides do not divide.
template <class T>
BlockCsr<T> reblock(const BlockCsr<T>& A, int block);

/// A copy with a zero (block) diagonal inserted where it was missing; `inserted` gets the block rows.
template <class T>
BlockCsr<T> with_full_diagonal(const BlockCsr<T>& A, Array<std::int32_t>* inserted = nullptr);

/// P A Pᵀ: new block row i is old block row order[i]. Columns are sorted again.
template <class T>
BlockCsr<T> permuted(const BlockCsr<T>& A, std::span<const std::int32_t> order);

template <class T>
BlockCsr<T> transposed(const BlockCsr<T>& A);

/// Position of the first NaN or Inf, and how many there are; row −1 when all are finite. Up to 5 positions are kept.
struct NonfiniteScan {
  std::int64_t count = 0;
  std::int64_t row[5] = {-1, -1, -1, -1, -1};
  std::int64_t column[5] = {-1, -1, -1, -1, -1};
};
template <class T>
NonfiniteScan scan_nonfinite(const BlockCsr<T>& A);

/// max |a_ij − a_ji| / max |a_ij|; infinity when the pattern is not symmetric.
template <class T>
double asymmetry(const BlockCsr<T>& A);
/// The same without allocating; `work` holds a number for every block row.
template <class T>
double asymmetry(const BlockCsr<T>& A, std::span<std::int64_t> work);

}  // namespace echelon
