// SPDX-License-Identifier: BSD-3-Clause
// Diagonal block sparse rows, DBSR: a matrix in a vectorised block multicolour order (block_colouring.hpp). In `bsize`
// consecutive rows the entries of one coupling lie on a diagonal, kept as bsize values with one index:
//   blk_ptr, blk_ind, blk_offset (8 bits), values; L and U apart, each read by one sweep, and the diagonal by itself (so
//   that the authors' dia_ptr is blk_ptr of U).     X. Yang, S. Li, F. Yuan, D. Dong, 2024.
// Bytes a stored block: 8·bsize + 5, and 8 a block row and triangle. Vectors are in the order's positions; those of padding
// are zero and stay so. Loads run over the ends of a block row, never past the rows of guard between the colours.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "echelon/base/array.hpp"
#include "echelon/matrix/dbsr/block_colouring.hpp"
#include "echelon/matrix/dbsr/dbsr_view.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

/// Where the entries are. Shared by a matrix and its factors. In U every row of guard has one block without entries, so that
/// what is loaded behind a colour's last row is no row of the next colour.
struct DbsrPattern {
  struct Triangle {
    Array<std::int64_t> blk_ptr;
    Array<std::int32_t> blk_ind;
    Array<std::uint8_t> blk_offset;
    Array<std::uint64_t> lanes;  // bit l: lane l has an entry
    std::int64_t blocks() const { return blk_ind.size(); }
    /// Column of lane 0; lane l is l further.
    std::int64_t first_column(std::int64_t block, int bsize) const { return blk_ind[block] * bsize + blk_offset[block]; }
    std::int64_t bytes() const { return blk_ptr.bytes() + blk_ind.bytes() + blk_offset.bytes(); }
  };
  Triangle lower, upper;
  std::int64_t nonzeros = 0;           // of the matrix, its diagonal included
  std::int64_t missing_diagonals = 0;  // rows without one: it is 0
};

template <class T>
class DbsrMatrix {
 public:
  /// Blocks of size 1. Throws Error(bad_argument) for others, and Error(structure) when the order is of another number of
  /// points or two rows of a block row are coupled.
  DbsrMatrix(const StructMatrix<T>& A, std::shared_ptr<const BlockColouring> order);
  DbsrMatrix(const BlockCsr<T>& A, std::shared_ptr<const BlockColouring> order);
  /// New values of the same pattern, allocating no more than a row's scratch. Error(structure) where an entry has no place.
  void refresh(const StructMatrix<T>& A);
  void refresh(const BlockCsr<T>& A);

  int bsize() const { return order_->bsize(); }
  std::int64_t rows() const { return order_->points(); }
  std::int64_t positions() const { return order_->positions(); }
  const BlockColouring& order() const { return *order_; }
  std::shared_ptr<const BlockColouring> share_order() const { return order_; }
  std::shared_ptr<const DbsrPattern> share_pattern() const { return pattern_; }
  const DbsrPattern& pattern() const { return *pattern_; }

  std::int64_t nonzeros() const { return pattern_->nonzeros; }
  /// Values stored for each nonzero: what padding costs.
  double stored_a_nonzero() const;
  /// Of the matrix without its order.
  std::int64_t bytes() const;
  DbsrView<T> view() const;
  /// Values of L and of U, bsize a block.
  std::span<const T> lower_values() const { return inner(lower_); }
  std::span<const T> upper_values() const { return inner(upper_); }
  std::span<const T> diagonal() const { return diagonal_.span(); }

  /// Natural order → positions (zeros in padding), and back.
  void permute(const Vector<T>& natural, Vector<T>& permuted) const;
  void permute_back(const Vector<T>& permuted, Vector<T>& natural) const;
  /// y = A x in positions: every row one chain of fma from 0 over ascending columns, as in matrix/spmv.hpp.
  void multiply(const Vector<T>& x, Vector<T>& y) const;

 private:
  std::span<const T> inner(const Array<T>& values) const {
    return values.span().subspan(static_cast<std::size_t>(bsize()),
                                 static_cast<std::size_t>(values.size() - 2 * std::int64_t{bsize()}));
  }
  template <class Matrix>
  void build(const Matrix& A);
  template <class Matrix>
  void fill(const Matrix& A);

  std::shared_ptr<const BlockColouring> order_;
  std::shared_ptr<const DbsrPattern> pattern_;
  Array<T> lower_, upper_, diagonal_;
};

}  // namespace echelon
