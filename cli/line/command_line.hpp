// SPDX-License-Identifier: BSD-3-Clause
// From the words of a line to one command with its options set: what PETSc's names become, what is refused and with which
// sentence, and what --help and --version answer.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace echelon::cli {

struct CommandLine {
  const Command* command = nullptr;  // of those given; null when only `answer` is to be printed (--help, --version)
  std::string answer;
};

/// Arguments without the program's name. Throws Error(bad_option) with a sentence and, for a mistyped name, the nearest one.
CommandLine parse(const std::vector<Command>& commands, Arguments arguments);

}  // namespace echelon::cli
