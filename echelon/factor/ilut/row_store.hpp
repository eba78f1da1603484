// SPDX-License-Identifier: BSD-3-Clause
// Rows whose lengths are not known beforehand, one after the other in large pieces of memory that never move: a finished
// row may be read by other threads while its owner goes on. Each thread has a store of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "echelon/base/array.hpp"

namespace echelon {

class RowStore {
 public:
  /// The first piece has room for what is expected, within bounds: large pieces come in huge pages, and what is not used of
  /// them costs nothing.
  explicit RowStore(std::int64_t expected_bytes) : expected_(expected_bytes) {}
  /// Room for so many bytes, on a boundary of 8; none of them cleared.
  std::byte* take(std::int64_t bytes) {
    bytes = (bytes + 7) / 8 * 8;
    if (bytes > left_) add_piece(bytes);
    std::byte* at = next_;
    next_ += bytes;
    left_ -= bytes;
    return at;
  }
  /// The last bytes of what was taken last, a multiple of 8.
  void give_back(std::int64_t bytes) {
    next_ -= bytes;
    left_ += bytes;
  }
  /// Forgets the rows and keeps the memory.
  void restart();

 private:
  /// Throws Error(will_not_fit) before the machine runs out.
  void add_piece(std::int64_t at_least);

  std::int64_t expected_;
  std::vector<Array<std::byte>> pieces_;
  std::size_t used_ = 0;  // pieces in use
  std::byte* next_ = nullptr;
  std::int64_t left_ = 0;
};

}  // namespace echelon
