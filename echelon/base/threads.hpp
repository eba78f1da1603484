// SPDX-License-Identifier: BSD-3-Clause
// How many threads a kernel may use. One number for the library; results never depend on it.
#pragma once

#include <cstdint>
#include <utility>

namespace echelon {

int threads() noexcept;
/// 0 means: as many as the machine offers to this process.
void set_threads(int count);
int hardware_threads() noexcept;
/// More are refused: every thread of a factorization has a line of the matrix's size, and none would find a processor.
int most_threads() noexcept;

/// Threads worth waking for `work` elementary operations: a small loop is faster on one than the waking itself.
inline int threads_for(std::int64_t work) noexcept {
  constexpr std::int64_t work_a_thread = 8192;
  const std::int64_t useful = work / work_a_thread;
  return useful < 2 ? 1 : static_cast<int>(useful < threads() ? useful : threads());
}

/// Part `part` of `parts` of the range [0, n), in whole multiples of `grain`.
inline std::pair<std::int64_t, std::int64_t> share(std::int64_t n, int part, int parts, std::int64_t grain = 1) {
  const std::int64_t grains = (n + grain - 1) / grain;
  const auto cut = [&](int p) {
    const std::int64_t at = grains * p / parts * grain;
    return at < n ? at : n;
  };
  return {cut(part), cut(part + 1)};
}

}  // namespace echelon
