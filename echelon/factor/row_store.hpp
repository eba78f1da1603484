// SPDX-License-Identifier: BSD-3-Clause
// Rows whose lengths are not known beforehand, one after the other in large pieces of memory that never move: a finished
// row may be read by other threads while its owner goes on. Each thread has a store of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "echelon/base/array.hpp"

namespace echelon {

/// Columns and the values of their blocks.
template <class T>
struct StoredRow {
  const std::int32_t* column = nullptr;
  const T* values = nullptr;
  std::int64_t count = 0;
};

template <class T>
class RowStore {
 public:
  struct Place {
    std::int32_t* column;
    T* values;
  };
  /// Room for a row of `count` blocks of `scalars` values each.
  Place take(std::int64_t count, std::int64_t scalars) {
    const std::int64_t values = (count * scalars * static_cast<std::int64_t>(sizeof(T)) + 7) / 8 * 8;
    const std::int64_t bytes = values + (count * static_cast<std::int64_t>(sizeof(std::int32_t)) + 7) / 8 * 8;
    if (bytes > left_) add_piece(bytes);
    std::byte* at = next_;
    next_ += bytes;
    left_ -= bytes;
    return {reinterpret_cast<std::int32_t*>(at + values), reinterpret_cast<T*>(at)};
  }
  /// Forgets the rows and keeps the memory.
  void restart();

 private:
  /// Throws Error(will_not_fit) before the machine runs out.
  void add_piece(std::int64_t at_least);

  std::vector<Array<std::byte>> pieces_;
  std::size_t used_ = 0;  // pieces in use
  std::byte* next_ = nullptr;
  std::int64_t left_ = 0;
};

}  // namespace echelon
