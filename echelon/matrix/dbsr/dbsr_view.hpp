// SPDX-License-Identifier: BSD-3-Clause
// What kernels see of a matrix in diagonal block rows (matrix/dbsr/dbsr_matrix.hpp), and the table of products a bsize.
#pragma once

#include <cstdint>

namespace echelon {

/// A strict triangle: block e of block row i holds, for lane l, the entry of row i·bsize + l in column
/// blk_ind[e]·bsize + blk_offset[e] + l, 0 where there is none. Blocks ascend by that column.
struct DbsrTriangleView {
  const std::int64_t* blk_ptr;  // block rows + 1
  const std::int32_t* blk_ind;
  const std::uint8_t* blk_offset;
  const void* values;  // bsize a block; as many zeros before the first and behind the last
};

template <class T>
struct DbsrView {
  int bsize;
  DbsrTriangleView lower, upper;
  const T* diagonal;  // by position; 0 in padding
};

/// Memory is asked for so many bytes ahead, into the second-level cache.
inline constexpr std::int64_t dbsr_ahead = 2048;

}  // namespace echelon
