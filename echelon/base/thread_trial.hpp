// SPDX-License-Identifier: BSD-3-Clause
// How many threads this process can have at one time: as many are created as a team would have, with the stack that the
// OpenMP run time gives (OMP_STACKSIZE, GOMP_STACKSIZE), and joined again. Private to base/.
#pragma once

namespace echelon {

/// The calling thread among them: 1 to `wanted`.
int threads_to_be_had(int wanted) noexcept;

}  // namespace echelon
