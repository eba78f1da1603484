// SPDX-License-Identifier: BSD-3-Clause
// A set of columns that gives its smallest member fast, whatever order they come in: bits in words of 64, with a mark above
// for each word that is not empty, up to one word for all (n = 16 million: four levels). A word's mark stays when its last
// member is taken and goes when the word is next met, so that taking is a few instructions without a branch to mispredict.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"

namespace echelon {

/// Columns 64·word + b for the bits b.
struct ColumnWord {
  std::uint64_t bits;
  std::int64_t word;
};

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

  ECHELON_FN void insert(std::int64_t column) { insert(ColumnWord{bit(column), column >> 6}); }
  ECHELON_FN void insert(ColumnWord columns) {
    std::uint64_t& word = level_[0][columns.word];
    const std::uint64_t before = word;
    word = before | columns.bits;
    if (before == 0) mark(columns.word);
  }

  /// The smallest member, which leaves the set; −1 when there is none. No member may be smaller than `from`.
  ECHELON_FN std::int64_t take_first(std::int64_t from) {
    std::int64_t at = from >> 6;
    while (level_[0][at] == 0) {
      at = next_word(at);
      if (at < 0) return -1;
    }
    std::uint64_t& word = level_[0][at];
    const std::int64_t column = at * 64 + __builtin_ctzll(word);
    word &= word - 1;
    return column;
  }

  /// A member that may be the next after the one just taken, or that one itself: to fetch what belongs to it.
  ECHELON_FN std::int64_t likely_next(std::int64_t taken) const {
    const std::uint64_t word = level_[0][taken >> 6];
    return word == 0 ? taken : (taken >> 6) * 64 + __builtin_ctzll(word);
  }

  /// Visits the members, ascending, and leaves the set empty. None may be smaller than `from`.
  template <class Visit>
  ECHELON_FN void take_all(std::int64_t from, const Visit& visit) {
    for (std::int64_t at = from >> 6; at >= 0; at = next_word(at)) {
      std::uint64_t word = level_[0][at];
      level_[0][at] = 0;
      for (; word != 0; word &= word - 1) visit(at * 64 + __builtin_ctzll(word));
    }
  }

 private:
  ECHELON_FN static std::uint64_t bit(std::int64_t place) { return std::uint64_t{1} << (place & 63); }

  ECHELON_FN void mark(std::int64_t at) {
    if (levels_ == 1) return;
    std::uint64_t& word = level_[1][at >> 6];
    const std::uint64_t before = word;
    word = before | bit(at);
    if (before == 0) mark_above(at >> 6);
  }

  /// Of an empty word: takes its mark away and gives the first word that has one, −1 when there is none. The way up from
  /// where the last member was is shorter than the way down from the top.
  ECHELON_FN std::int64_t next_word(std::int64_t at) {
    if (levels_ == 1) return -1;
    std::uint64_t& word = level_[1][at >> 6];
    word &= ~bit(at);
    return word != 0 ? (at >> 6) * 64 + __builtin_ctzll(word) : next_word_above(at >> 6);
  }

  /// The same from the second level on, out of line: 4096 columns share a word there.
  void mark_above(std::int64_t at) {
    for (int level = 2; level < levels_; ++level) {
      std::uint64_t& word = level_[level][at >> 6];
      const std::uint64_t before = word;
      word = before | bit(at);
      if (before != 0) return;  // known above
      at >>= 6;
    }
  }
  std::int64_t next_word_above(std::int64_t at) {
    for (int level = 2; level < levels_; ++level) {
      std::uint64_t& word = level_[level][at >> 6];
      word &= ~bit(at);
      at >>= 6;
      if (word == 0) continue;
      for (; level > 0; --level) at = at * 64 + __builtin_ctzll(level_[level][at]);
      return at;
    }
    return -1;
  }

  static constexpr int most_levels = 11;
  int levels_ = 0;
  std::uint64_t* level_[most_levels] = {};
  Array<std::uint64_t> words_;
};

}  // namespace echelon
