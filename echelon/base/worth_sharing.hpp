// SPDX-License-Identifier: BSD-3-Clause
// From how much work on threads_for (base/threads.hpp) gives more than one thread. Tests ask for less than the library
// does, so that cases small enough for them are shared all the same.
#pragma once

#include <cstdint>

namespace echelon {

/// Elementary operations; 0: the library's own number.
void share_work_from(std::int64_t operations) noexcept;

}  // namespace echelon
