// SPDX-License-Identifier: BSD-3-Clause
// Which Echelon this is, and what it was built with.
#pragma once

namespace echelon {

/// "0.1.0"
const char* version() noexcept;
/// True when the CUDA code was compiled in; a device may still be absent.
bool built_with_cuda() noexcept;

}  // namespace echelon
