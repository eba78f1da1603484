// SPDX-License-Identifier: BSD-3-Clause
// The entry lines of a Matrix Market file as triplets in file order. The text is cut at line ends into one part a thread;
// each part also counts its entries a row (the mirrored ones included), which is the counting sort's first half.
// Bytes an entry: the line, 16 written for the triplet, 4 updated in the counts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "echelon/io/matrix_market.hpp"
#include "echelon/io/matrix_market_header.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon::matrix_market {

using Entry = Triplet<double>;

/// Entries in blocks: room grows with the bytes really parsed, and nothing is moved.
class EntryList {
 public:
  static constexpr std::int64_t block_entries = std::int64_t{1} << 17;  // 2 MiB

  std::int64_t size() const { return size_; }
  std::int64_t room() const { return room_; }
  /// A new block to fill from its front; the blocks before it are full. `filled_to` ends the last one.
  std::span<Entry> add_block();
  void filled_to(const Entry* next) { size_ = room_ - (blocks_.empty() ? 0 : blocks_.back().end() - next); }

  /// First and last entry.
  std::optional<std::pair<Entry, Entry>> ends() const {
    if (size_ == 0) return std::nullopt;
    return std::pair(blocks_.front()[0], blocks_.back()[blocks_.back().size() - 1 - (room_ - size_)]);
  }

  template <class Visit>
  void for_each(const Visit& visit) const {
    std::int64_t left = size_;
    for (const auto& block : blocks_) {
      const std::int64_t here = std::min(left, block.size());
      for (std::int64_t i = 0; i < here; ++i) visit(block[i]);
      left -= here;
    }
  }
  template <class Visit>
  void for_each(const Visit& visit) {
    std::int64_t left = size_;
    for (auto& block : blocks_) {
      const std::int64_t here = std::min(left, block.size());
      for (std::int64_t i = 0; i < here; ++i) visit(block[i]);
      left -= here;
    }
  }

 private:
  std::vector<Array<Entry>> blocks_;
  std::int64_t size_ = 0;
  std::int64_t room_ = 0;
};

struct NonfiniteEntry {
  std::int64_t offset;
  std::int64_t ordinal;  // within its part
};

struct Part {
  EntryList entries;
  Array<std::uint32_t> row_count;
  Fault fault = Fault::none;
  std::int64_t fault_offset = 0;
  std::int64_t explicit_zeros = 0;
  std::int64_t denormals = 0;
  std::int64_t nonfinite = 0;
  std::vector<NonfiniteEntry> first_nonfinite;  // five at most
  bool by_rows = true, by_columns = true;       // entries ascend so
};

/// All parts, in file order. Throws at the first bad line; every other promise of the header is then kept.
std::vector<Part> scan_entries(const TextSource& source, const Header& header, const ReadOptions& options, ReadNotes& notes);

}  // namespace echelon::matrix_market
