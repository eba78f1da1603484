// SPDX-License-Identifier: BSD-3-Clause
// What both sweeps of a structured factorization work with: how far each group of lines has come, and a piece of memory for
// every thread. One call at a time uses it; LentScratch has one for each that comes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "echelon/base/array.hpp"
#include "echelon/base/lent_scratch.hpp"
#include "echelon/schedule/grid/line_groups.hpp"

namespace echelon {

/// Its size: the schedules of the two sweeps, and the bytes of one thread, a multiple of a cache line.
struct StructSweepSize {
  const LineGroups *lower, *upper;
  std::int64_t bytes_a_thread;
};

struct StructSweepScratch {
  GroupProgress lower, upper;
  Array<std::byte> memory;

  /// Changes nothing when it has that size.
  void fit(const StructSweepSize& size) {
    if (lower.groups() != size.lower->groups()) lower = GroupProgress(size.lower->groups());
    if (upper.groups() != size.upper->groups()) upper = GroupProgress(size.upper->groups());
    const std::int64_t bytes = size.bytes_a_thread * std::max(size.lower->threads(), size.upper->threads());
    if (memory.size() != bytes) memory = Array<std::byte>(bytes);
  }
};

using StructSweepLoan = LentScratch<StructSweepScratch>::Loan;

inline StructSweepLoan borrow(const LentScratch<StructSweepScratch>& scratch, const StructSweepSize& size) {
  return scratch.take([&size](StructSweepScratch& spare) { spare.fit(size); });
}

}  // namespace echelon
