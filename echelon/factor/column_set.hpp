// SPDX-License-Identifier: BSD-3-Clause
// A set of columns that gives its smallest member fast, whatever order they come in: bits in words of 64, with a bit above
// for each word that is not empty, up to one word for all. Inserting and taking touch one word as a rule, and a word a
// level (n = 16 million: four) at most.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"

namespace echelon {

class ColumnSet {
 public:
  explicit ColumnSet(std::int64_t columns) {
    std::int64_t words[most_levels], sum = 0;
    for (std::int64_t left = columns; levels_ == 0 || left > 1; ++levels_) {
      left = (left + 63) / 64;
      words[levels_] = left > 0 ? left : 1;
      sum += words[levels_];
    }
    words_ = Array<std::uint64_t>(sum, 0);
    auto* at = words_.data();
    for (int level = 0; level < levels_; ++level) {
      level_[level] = at;
      at += words[level];
    }
  }

  ECHELON_FN void insert(std::int64_t column) {
    for (int level = 0; level < levels_; ++level) {
      std::uint64_t& word = level_[level][column >> 6];
      const std::uint64_t before = word;
      word = before | std::uint64_t{1} << (column & 63);
      if (before != 0) return;  // known above
      column >>= 6;
    }
  }

  /// The smallest member, which leaves the set; −1 when there is none. No member may be smaller than `from`.
  ECHELON_FN std::int64_t take_first(std::int64_t from) {
    std::int64_t at = from >> 6;
    if (level_[0][at] == 0) {
      // The way up from where the last one was is shorter than the way down from the top.
      int level = 1;
      for (at >>= 6; level < levels_ && level_[level][at] == 0; ++level) at >>= 6;
      if (level >= levels_) return -1;
      for (; level > 0; --level) at = at * 64 + __builtin_ctzll(level_[level][at]);
    }
    const std::int64_t column = at * 64 + __builtin_ctzll(level_[0][at]);
    for (int level = 0; level < levels_; ++level) {
      std::uint64_t& word = level_[level][at];
      word &= word - 1;  // the first bit is the one taken, at every level
      if (word != 0) break;
      at >>= 6;
    }
    return column;
  }

 private:
  static constexpr int most_levels = 11;
  int levels_ = 0;
  std::uint64_t* level_[most_levels] = {};
  Array<std::uint64_t> words_;
};

}  // namespace echelon
