// SPDX-License-Identifier: BSD-3-Clause
// What kernels that take rows by tickets keep on the device: the tickets themselves, the launch's epoch, the watchdog; and a
// value that says by its tag whether it is there.
#pragma once

namespace echelon {

/// Kept on the device between launches; the last block of threads of a launch turns it for the next one.
struct RowSweepState {
  static constexpr unsigned long long no_wait = ~0ull;
  unsigned ticket = 0, finished = 0;
  unsigned long long epoch = 1;  // words begin as zeros
  /// The watchdog: the earliest position that was waited for too long, and below it the one that waited.
  unsigned long long first_wait = no_wait;
  unsigned long long patience = 0;  // nanoseconds
};

/// A value and its tag, 16 bytes aligned so.
struct alignas(16) RowSweepWord {
  unsigned long long value = 0, tag = 0;
};

}  // namespace echelon
