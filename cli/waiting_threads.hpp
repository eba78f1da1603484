// SPDX-License-Identifier: BSD-3-Clause
// How long threads without work spin before they sleep. GNU's OpenMP run time spins for milliseconds, which takes the
// processor from whoever has work on a machine that is not idle, and reads its settings before main begins. It is part of
// the program (cmake/own_gomp.cmake), so a shorter one is set before that, at no cost. Who sets OMP_WAIT_POLICY or
// GOMP_SPINCOUNT has what they set.
#pragma once

namespace echelon::cli {

/// At the start of main: what was set for the run time is not handed on to programs that this one starts.
void threads_know_how_to_wait() noexcept;

}  // namespace echelon::cli
