// SPDX-License-Identifier: BSD-3-Clause
// The machine a run happened on: the CPU's name, the SIMD target the kernels dispatch to, and the bandwidth a copy reaches,
// which is the floor that every memory-bound kernel is measured against.
#pragma once

#include <cstdint>
#include <string>

namespace echelon {

/// As the kernel names it; "unknown CPU" when it does not.
std::string cpu_name();
/// Highway's word for the best target of this CPU among those compiled in: "AVX2", "AVX3", "NEON", …
std::string simd_target();
/// Bytes of the last cache level, 0 when the system does not say.
std::int64_t last_level_cache_bytes();

/// Bytes of each of the two arrays that a copy is measured with: as many as the last level cache has (16 MiB at least, 128
/// MiB where the system does not say), so that both together do not stay in it; at most an eighth of the free memory.
std::int64_t copied_bytes(std::int64_t cache_bytes, std::int64_t free_bytes);
/// Bytes read and written a second by a copy with threads() threads; the best of the passes that fit into about 0.2 s
/// counts.
double measure_copy_bandwidth();

}  // namespace echelon
