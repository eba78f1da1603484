// SPDX-License-Identifier: BSD-3-Clause
// Runs another program to its end and keeps what it said.
#pragma once

#include <string>
#include <vector>

namespace echelon::cli {

struct ChildOutcome {
  int status = -1;  // of exit; −signal when it was killed
  std::string out, err;
};

/// `command[0]` is looked up in PATH when it has no slash; `environment` ("NAME=value") goes on top of ours. Throws
/// Error(file_missing) when it cannot be started.
ChildOutcome run_child(const std::vector<std::string>& command, const std::vector<std::string>& environment = {});

/// True when `name` is an executable in PATH.
bool in_path(const std::string& name);

}  // namespace echelon::cli
