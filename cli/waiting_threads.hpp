// SPDX-License-Identifier: BSD-3-Clause
// How long threads without work spin before they sleep. GNU's OpenMP run time spins for milliseconds, which takes the
// processor from whoever has work on a machine that is not idle, and reads its settings before main begins: the program
// begins itself once more with a shorter one. Who sets OMP_WAIT_POLICY or GOMP_SPINCOUNT has what they set.
#pragma once

namespace echelon::cli {

/// At the very start of main. Returns in the process that goes on, whose environment is the caller's again; does nothing
/// where the program cannot find itself.
void choose_how_threads_wait(char** argv) noexcept;

}  // namespace echelon::cli
