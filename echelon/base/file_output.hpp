// SPDX-License-Identifier: BSD-3-Clause
// A file that is either complete or not there: written to a temporary name beside it, every write checked, synced, then
// renamed over the old one. Special files (/dev/stdout, /dev/null) are written directly.
#pragma once

#include <string>
#include <string_view>

namespace echelon {

/// Throws Error(write_failed) with the path, the system's reason, the bytes needed and the bytes free.
void write_file(const std::string& path, std::string_view content);

}  // namespace echelon
