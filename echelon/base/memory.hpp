// SPDX-License-Identifier: BSD-3-Clause
// Memory known beforehand: what a step needs is compared with what is there before anything is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "echelon/base/device.hpp"

namespace echelon {

/// Bytes that can still be had: on the host the smaller of the kernel's estimate and the control group's limit.
std::int64_t available_bytes(Device device = Device::host());

/// Throws Error(will_not_fit) naming `what`, the bytes needed and the bytes there.
void require_memory(std::int64_t bytes, const std::string& what, Device device = Device::host());

/// "3.2 GiB"
std::string human_bytes(std::int64_t bytes);

}  // namespace echelon
