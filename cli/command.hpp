// SPDX-License-Identifier: BSD-3-Clause
// What a command of the program is. The functions of one entry share one set of options: `add_options` names them to the
// parser, which fills them in; `check` then sees them together; `run` does the work, prints and writes, and returns the exit
// status. Trouble leaves as echelon::Error.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/line/option_group.hpp"

namespace echelon::cli {

inline constexpr int exit_done = 0;
inline constexpr int exit_not_converged = 1;
inline constexpr int exit_interrupted = 130;

/// A line without the program's name, as it was typed.
using Arguments = std::vector<std::string>;
/// Whether the user gave this option, its default or not.
using Given = std::function<bool(const std::string& name)>;

struct Command {
  const char* name;
  const char* help;              // its line of `echelon --help`
  const char* footer = nullptr;  // ends its own help; null: as the program's ends
  bool takes_petsc_names = false;
  bool takes_ranks = false;  // false: refused where a launcher started several processes
  std::function<void(const OptionList&)> add_options;
  std::function<void(const Given&)> check = {};  // null: no options that contradict each other
  std::function<int(const Arguments&)> run;
};

}  // namespace echelon::cli
