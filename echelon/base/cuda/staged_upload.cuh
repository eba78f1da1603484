// SPDX-License-Identifier: BSD-3-Clause
// Large arrays to a GPU from memory that is not pinned: threads copy pieces into pinned memory of their own and send each
// on while the next is filled, which the bus keeps up with and one thread of the driver does not.
#pragma once

#include <cstddef>

namespace echelon {

/// From here on it pays.
constexpr std::size_t least_staged_bytes = std::size_t{64} << 20;

/// Done when it returns; behind what was queued on the default stream before. Throws Error(device).
void staged_upload(int device, void* to, const void* from, std::size_t bytes);

}  // namespace echelon
