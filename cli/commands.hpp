// SPDX-License-Identifier: BSD-3-Clause
// The commands of the program. A new one is declared and listed here, and defined where its work is done: what a folder to
// the right of this one brings is known by name only, and the program links it.
#pragma once

#include <vector>

#include "cli/command.hpp"

namespace echelon::cli {

Command solve_command();
Command check_command();
Command bench_command();
Command hpcg_command();
Command selftest_command();
Command info_command();

/// In the order of `echelon --help`.
inline std::vector<Command> all_commands() {
  return {solve_command(), check_command(), bench_command(), hpcg_command(), selftest_command(), info_command()};
}

}  // namespace echelon::cli
