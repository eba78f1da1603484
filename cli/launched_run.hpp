// SPDX-License-Identifier: BSD-3-Clause
// A run that a launcher (mpirun, srun) started as several processes. MPI is loaded and begun here and nowhere else, ended
// when all ranks have come to the end, and rank 0 alone prints and writes. Whatever goes wrong on a rank ends all of them
// with one sentence and one status.
#pragma once

#include <functional>

#include "cli/command.hpp"
#include "echelon/comm/communicator.hpp"

namespace echelon::cli {

/// The ranks of this run; one, unless a launcher started several.
const Communicator& ranks();

/// Throws Error(bad_option) where there are several ranks and the command knows none.
void require_ranks_are_known(const Command& command);

/// `run` on the ranks a launcher started, or alone; both return what run_guarded returns, the exit status, the largest of
/// the ranks. `run_guarded` turns what a run throws into a sentence and a status.
using Run = std::function<int()>;
int run_as_launched(const Arguments& arguments, const Run& run, const std::function<int(const Run&)>& run_guarded);

}  // namespace echelon::cli
