// SPDX-License-Identifier: BSD-3-Clause
// Memory known beforehand: what a step needs is compared with what is there before anything is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "echelon/base/device.hpp"

namespace echelon {

/// Bytes that can still be had: on the host the least of the kernel's estimate, the control group's limit and the
/// address space of the process (ulimit -v).
std::int64_t available_bytes(Device device = Device::host());

/// Throws Error(will_not_fit) naming `what`, the bytes needed and the bytes there.
void require_memory(std::int64_t bytes, const std::string& what, Device device = Device::host());

/// For products that may pass 64 bits: as many bytes as 64 bits can say.
std::int64_t saturated_bytes(double bytes);

/// "3.2 GiB"
std::string human_bytes(std::int64_t bytes);

}  // namespace echelon
