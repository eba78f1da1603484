// SPDX-License-Identifier: BSD-3-Clause
// A row of U as an elimination reads it, in one stretch of memory, so that a step finds everything behind one pointer:
//   lengths · D⁻¹ · values · columns · the same columns as words of bits
// Scalars come in fours, filled up with zeros of a column beyond the last: loops have few lengths, which are predicted. The
// words say where the row brings entries without asking each whether it is there; a grid's rows have one for several
// columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "echelon/factor/ilut/column_set.hpp"

namespace echelon {

/// Entries with their filling.
ECHELON_FN std::int64_t filled_up(std::int64_t count, std::int64_t block_scalars) {
  constexpr std::int64_t together = 4;
  return block_scalars == 1 ? (count + together - 1) / together * together : count;
}

/// A finished row is only read.
template <class T>
struct UpperRow {
  std::int32_t* lengths;  // entries, words
  T* inverse;             // of the diagonal (block)
  T* values;              // strict; a block's scalars column-major
  std::int32_t* column;   // ascending positions; with pivoting the user's columns
  ColumnWord* words;      // none for blocks and with pivoting

  /// With this many entries of `block_scalars` each.
  ECHELON_FN UpperRow(std::byte* at, std::int64_t count, std::int64_t block_scalars)
      : lengths(reinterpret_cast<std::int32_t*>(at)),
        inverse(reinterpret_cast<T*>(at + head_bytes)),
        values(inverse + block_scalars),
        column(reinterpret_cast<std::int32_t*>(at + head_bytes + scalar_bytes(count, block_scalars))),
        words(reinterpret_cast<ColumnWord*>(at + bytes(count, block_scalars, 0))) {}
  /// One that was written.
  ECHELON_FN UpperRow(std::byte* at, std::int64_t block_scalars)
      : UpperRow(at, reinterpret_cast<const std::int32_t*>(at)[0], block_scalars) {}

  ECHELON_FN std::int64_t count() const { return lengths[0]; }
  ECHELON_FN std::int64_t word_count() const { return lengths[1]; }

  ECHELON_FN static std::int64_t bytes(std::int64_t count, std::int64_t block_scalars, std::int64_t word_count) {
    return head_bytes + scalar_bytes(count, block_scalars) + whole(filled_up(count, block_scalars) * 4) +
           word_count * static_cast<std::int64_t>(sizeof(ColumnWord));
  }

 private:
  static constexpr std::int64_t head_bytes = 8;
  ECHELON_FN static std::int64_t whole(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }
  ECHELON_FN static std::int64_t scalar_bytes(std::int64_t count, std::int64_t block_scalars) {
    return whole((1 + filled_up(count, block_scalars)) * block_scalars * static_cast<std::int64_t>(sizeof(T)));
  }
};

}  // namespace echelon
