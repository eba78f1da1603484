// SPDX-License-Identifier: BSD-3-Clause
// The launches of iterated triangular solves without a GPU: the same phases over the same views, in memory of the host.
// Either the threads of a phase run one after the other, upwards or downwards, before the next phase begins; or each is a
// thread of the machine and barriers are barriers, so that one that is missing is a race.
#pragma once

#include "echelon/sweep/iterated/device_iteration_view.hpp"

namespace echelon::reference {

/// What the emulated device has and how it runs; one for the process.
struct EmulatedDevice {
  int least_ctas = 1, most_ctas = 16;
  std::int64_t shared_bytes = 232448;
  bool holds_rows = true, holds_pieces = true;
  bool downwards = false;
  bool real_threads = false;
  // What it was asked to do.
  int sweeps = 0, copies = 0, clusters = 0;
};
EmulatedDevice& emulated_device();

const IterationLaunches* emulated_launches();

}  // namespace echelon::reference
