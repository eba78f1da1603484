// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/ilut/row_store.hpp"

#include <algorithm>

#include "echelon/base/memory.hpp"

namespace echelon {

void RowStore::restart() {
  used_ = 0;
  next_ = nullptr;
  left_ = 0;
}

void RowStore::add_piece(std::int64_t at_least) {
  constexpr std::int64_t smallest = std::int64_t{1} << 18, largest = std::int64_t{1} << 24;
  constexpr std::int64_t unquestioned = std::int64_t{1} << 20;
  while (used_ < pieces_.size() && pieces_[used_].size() < at_least) ++used_;
  if (used_ == pieces_.size()) {
    const std::int64_t wanted = pieces_.empty() ? expected_ : 2 * pieces_.back().size();
    const std::int64_t bytes = std::max(std::clamp(wanted, smallest, largest), at_least);
    // Twice: in the end the rows are copied into their triangles. Asking takes as long as some hundred rows, and a small
    // piece is not what memory runs out by.
    if (bytes > unquestioned) require_memory(2 * bytes, "the next rows of a factorization whose fill grows");
    pieces_.emplace_back(bytes);
  }
  next_ = pieces_[used_].data();
  left_ = pieces_[used_].size();
  ++used_;
}

}  // namespace echelon
