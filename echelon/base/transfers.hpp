// SPDX-License-Identifier: BSD-3-Clause
// What went between the host and GPUs, counted for the whole process: a solve reports the difference, and tests bound it.
#pragma once

#include <cstdint>

namespace echelon {

struct TransferCounts {
  std::int64_t copies = 0, bytes = 0;   // arrays, in either direction
  std::int64_t waits = 0, scalars = 0;  // how often the host waited for a GPU's numbers, and how many it got

  friend TransferCounts operator-(const TransferCounts& a, const TransferCounts& b) {
    return {a.copies - b.copies, a.bytes - b.bytes, a.waits - b.waits, a.scalars - b.scalars};
  }
};

TransferCounts transfer_counts() noexcept;
void count_copy(std::int64_t bytes) noexcept;
void count_wait(std::int64_t scalars) noexcept;

}  // namespace echelon
