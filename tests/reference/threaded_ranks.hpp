// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads of one process, under the very code that runs over MPI: a table of messages over mailboxes, with a delay
// of arrival that a seed draws, so that the order in which messages come differs from run to run of a test.
#pragma once

#include <cstdint>
#include <functional>

#include "echelon/comm/ranks.hpp"

namespace echelon::test {

/// Runs `work` on that many ranks, each a thread, and returns when all have ended. What a rank throws ends the test process.
void run_ranks(int count, const std::function<void(const Communicator&)>& work, std::uint64_t seed = 1,
               double patience = 60);

}  // namespace echelon::test
