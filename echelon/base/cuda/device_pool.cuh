// SPDX-License-Identifier: BSD-3-Clause
// Device memory from a pool of our own. What is freed stays with the process up to a quarter of the device's memory, so that
// the vectors of the next solve cost microseconds: cudaMalloc and cudaFree take milliseconds for a basis of gigabytes, and
// wait for the device. Memory is taken and given back in the order of the default stream, on which all our kernels run.
#pragma once

#include <cstddef>

namespace echelon {

/// Null when there is not enough.
void* pool_allocate(int device, std::size_t bytes);
void pool_release(int device, void* pointer);
/// What the pool holds and nobody uses: free for us, taken for everyone else.
std::size_t pool_unused_bytes(int device);

}  // namespace echelon
