// SPDX-License-Identifier: BSD-3-Clause
// Where the rows of factors meet on a GPU, found once from the patterns and kept for every factorization of them. While
// scalars are factored, row k lies in one record of words: D_k⁻¹, y_k, then U(k); of blocks the same words are meant. For
// each lower entry k of row i and each entry of row i a byte says which word of k's record it needs: the diagonal's for the
// entry itself, U_kj for an entry j after it that U(k) has, too, y_k for the place after the last entry, or none. Four steps
// of a place stand in one 32-bit word. Bytes: 4 + about 1.1 times the longest row's an entry of L, 24 a row.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"
#include "echelon/base/device.hpp"

namespace echelon {

/// What is known of a row before it is factored, in the order of tickets.
struct RowHead {
  static constexpr int words = 6;
  enum Word { row, user, lower, upper, of_A, counts };  // starts: of its entries in L, in U and in A
  int below, count, entries;                            // of L; with the diagonal and U; of A

  ECHELON_FN unsigned packed() const { return static_cast<unsigned>(below | count << 8 | entries << 16); }
  ECHELON_FN static RowHead unpacked(unsigned counts) {
    return {static_cast<int>(counts & 255), static_cast<int>(counts >> 8 & 255), static_cast<int>(counts >> 16)};
  }
};

struct RowMeetsView {
  static constexpr int steps_a_word = 4;
  static constexpr unsigned no_place = 255, place_of_inverse = 0, place_of_estimate = 1, place_of_upper = 2;

  int stride = 0;               // places of a row: its entries and one for the estimate; 0 when nothing is kept
  unsigned* heads = nullptr;    // RowHead::words a ticket
  unsigned* records = nullptr;  // an entry of L: where k's record begins
  unsigned* places = nullptr;   // `stride` for four entries of L
  /// Which entry of A's row an entry of the factors is, `stride` a row; null when the two are the same.
  std::uint8_t* sources = nullptr;

  ECHELON_FN bool kept() const { return stride > 0; }
  /// Of the words of a row's first four steps. Rows do not overlap: ⌊x + y⌋ − ⌊x⌋ ≥ ⌊y⌋, here with y = (below + 3) / 4.
  ECHELON_FN static std::int64_t first_word(std::int64_t row, std::int64_t lower_start) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lower_start + (steps_a_word - 1) * row) / steps_a_word);
  }
  /// Rows stand in the order of the upper sweep, as U does.
  ECHELON_FN static std::int64_t record(std::int64_t last_row, std::int64_t row, std::int64_t upper_start) {
    return upper_start + 2 * (last_row - row);
  }
  /// Back from there.
  ECHELON_FN static unsigned upper_start(std::int64_t last_row, std::int64_t row, unsigned record) {
    return record - 2 * static_cast<unsigned>(last_row - row);
  }
};

/// Sizes of everything that indices of 32 bits and places of eight must reach.
struct RowMeetsSize {
  std::int64_t rows = 0, lower = 0, upper = 0, of_A = 0;  // entries
  int block = 1, longest = 1;                             // the diagonal among its entries
  bool same = true;                                       // the factors' rows stand as A's do

  /// Of scalars, and of blocks whose rows are in tiles (row_factor_tiles.cuh) or columns (row_factor_columns.cuh); 0 for
  /// other blocks.
  static constexpr int longest_row(int block) { return block == 1 ? 253 : block <= 4 ? 31 : block <= 8 ? 15 : 0; }
  static constexpr std::int64_t many_rows = 200'000;
  /// Where scalar rows have so many places and that part of all waits for none that is near. Rows that share a warp take
  /// fewer instructions, but each of them longer; long rows only gain where they seem to be numbered at random, and then
  /// (15/16)³⁰ = 1/7 of them are far.
  static bool share_warps(std::int64_t rows, int stride, double far_rows) {
    return rows >= many_rows && (stride < 32 || (stride == 32 && 16 * far_rows > 1));
  }
  /// Where most scalar rows are far: long rows that a warp holds back keep others waiting.
  static bool deal_out(std::int64_t rows, int stride) { return rows >= many_rows && stride < 32; }
  /// 8, 16, 32, 64, 96, 128, 192 or 256; 0 when rows are too long or there are too many.
  int stride() const;
  std::int64_t bytes() const;
  /// Of all records.
  std::int64_t words() const { return 2 * rows + upper; }
};

class RowMeets {
 public:
  RowMeets() = default;
  /// Empty when it would take more than a quarter of the memory that is free there or eight times that of the factors.
  RowMeets(const RowMeetsSize& size, Device device);
  RowMeetsView view();
  std::int64_t bytes() const { return heads_.bytes() + records_.bytes() + places_.bytes() + sources_.bytes(); }

 private:
  int stride_ = 0;
  Array<unsigned> heads_, records_, places_;
  Array<std::uint8_t> sources_;
};

}  // namespace echelon
