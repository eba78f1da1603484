// SPDX-License-Identifier: BSD-3-Clause
// Small tables to a GPU without a wait: they are copied into pinned memory that is taken once, and sent on from there behind
// what is queued on the default stream. A copy from memory that is not pinned waits for all of that first.
#pragma once

#include <cstddef>

namespace echelon {

/// Up to here. The pinned memory holds some of these.
constexpr std::size_t most_small_bytes = std::size_t{256} << 10;

/// `from` may be used again when it returns. False when there is no pinned memory to be had: nothing was done then. Throws
/// Error(device).
bool small_upload(int device, void* to, const void* from, std::size_t bytes);

}  // namespace echelon
