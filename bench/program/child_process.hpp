// SPDX-License-Identifier: BSD-3-Clause
// Runs another program to its end, or to a limit, and keeps what it said. It ends with us: a program that is killed leaves
// no child running.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace echelon::cli {

struct ChildOutcome {
  int status = -1;  // of exit; −signal when it was killed
  std::string out, err;
  std::string stopped;  // which limit ended it: "it took longer than 600 s"; empty when it ended by itself
};

/// What a child may take before it is ended, with everything that it started itself.
struct ChildLimits {
  double seconds = 600;
  std::int64_t bytes = std::int64_t{16} << 20;  // that it says, on both streams together
};

/// `command[0]` is looked up in PATH when it has no slash; `environment` ("NAME=value") goes on top of ours. Throws
/// Error(file_missing) when it cannot be started.
ChildOutcome run_child(const std::vector<std::string>& command, const std::vector<std::string>& environment = {},
                       const ChildLimits& limits = {});

/// True when `name` is an executable in PATH.
bool in_path(const std::string& name);

}  // namespace echelon::cli
