// SPDX-License-Identifier: BSD-3-Clause
// Every failure of CLI11 leaves as Error(bad_option): the parser's own codes stay inside.
#include "cli/line/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/line/nearest.hpp"
#include "cli/line/option_checks.hpp"
#include "cli/line/petsc_options.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/version.hpp"

namespace echelon::cli {
namespace {

const Words later_commands = {"cavity", "elastic", "artery", "cfd"};
/// Options of the interface whose methods come later: recognised, never silently taken.
const Words later_options = {"--tune", "--on-gpu-error"};

Words option_names(const CLI::App& app) {
  Words names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back(fmt::format("--{}", name));
    for (const auto& name : option->get_snames()) names.push_back(fmt::format("-{}", name));
  }
  return names;
}

[[noreturn]] void refuse_extra(const CLI::App& app, const std::string& extra) {
  const auto name = extra.substr(0, extra.find('='));
  if (std::find(later_options.begin(), later_options.end(), name) != later_options.end()) {
    throw Error(ErrorCode::bad_option, fmt::format("{} belongs to a method that this version does not have yet", name));
  }
  if (name.empty() || name[0] != '-') {
    // `check` takes its file without an option, so this is tried.
    const bool is_file = app.get_option_no_throw("--matrix") && (extra.ends_with(".mtx") || extra.ends_with(".mtx.gz"));
    throw Error(ErrorCode::bad_option, fmt::format("unexpected argument '{}'{}", extra,
                                                   is_file ? fmt::format("; a file is given as --matrix {}", extra) : ""));
  }
  // One dash before a long name is the commonest slip.
  const std::string long_name = name.size() > 2 && name[1] != '-' ? fmt::format("-{}", name) : name;
  throw Error(ErrorCode::bad_option, fmt::format("unknown option {}{}; see echelon {} --help", name,
                                                 suggestion(long_name, option_names(app)), app.get_name()));
}

/// A word with one dash is never ours (short options are -q, -v, -h); CLI11 would read it letter by letter.
void refuse_single_dashes(const CLI::App& app, const Words& arguments) {
  for (const auto& argument : arguments) {
    if (argument.size() < 3 || argument[0] != '-' || argument[1] == '-') continue;
    const bool numeric = argument.find_first_not_of("-+.0123456789eE") == std::string::npos;
    if (!numeric && argument.find_first_not_of("qvh", 1) != std::string::npos) refuse_extra(app, argument);
  }
}

/// "--json=" is a value that was not set; CLI11 would take the next word instead, whatever that is.
void refuse_missing_values(const Words& arguments) {
  for (const auto& argument : arguments) {
    if (argument.starts_with("--") && argument.size() > 2 && argument.find('=') + 1 == argument.size())
      throw Error(ErrorCode::bad_option, fmt::format("{} has no value behind its '='", argument));
  }
}

/// The mark "--" says that only names follow. CLI11 would hand what is behind it to nobody, in reverse: they come before the
/// options instead, where none of them can become an option's value.
Words without_mark(Words arguments) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark == arguments.end()) return arguments;
  const auto option = std::find_if(mark + 1, arguments.end(), [](const auto& word) { return word.starts_with('-'); });
  if (option != arguments.end())
    throw Error(ErrorCode::bad_option, fmt::format("unexpected argument '{}' behind --: options stand before it", *option));
  Words in_order(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  arguments.insert(arguments.begin() + 1, in_order.begin(), in_order.end());  // behind the command
  return arguments;
}

void refuse_unknown_command(const Words& commands, const Words& arguments) {
  if (arguments.empty()) {
    throw Error(ErrorCode::bad_option,
                fmt::format("a command is needed: {}; see echelon --help", fmt::join(commands, ", ")));
  }
  const auto& first = arguments.front();
  if (first == "-h" || first == "--help" || first == "--version") return;
  if (first.starts_with('-')) {
    throw Error(ErrorCode::bad_option,
                fmt::format("a command is needed before {}: {}; see echelon --help", first, fmt::join(commands, ", ")));
  }
  const auto sentence = check_word(first, commands, later_commands);
  if (!sentence.empty()) throw Error(ErrorCode::bad_option, "command: " + sentence);
}

}  // namespace

CommandLine parse(const std::vector<Command>& commands, Arguments arguments) {
  FileOptions files;
  CLI::App app{"Echelon: incomplete-LU preconditioners, triangular sweeps and solvers", "echelon"};
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->always_capture_default();
  app.get_formatter()->column_width(34);
  app.set_version_flag("--version", fmt::format("echelon {}", version()));
  app.require_subcommand(1);
  app.footer("echelon COMMAND --help lists the options of a command. A first try: echelon solve");

  Words names;
  for (const auto& command : commands) {
    auto* sub = app.add_subcommand(command.name, command.help);
    command.add_options({*sub, files});
    if (command.footer) sub->footer(command.footer);
    sub->allow_extras();
    names.emplace_back(command.name);
  }

  refuse_unknown_command(names, arguments);
  // Where nothing is solved a name of PETSc's is as unknown as any other.
  for (const auto& command : commands) {
    if (command.takes_petsc_names && arguments.front() == command.name) arguments = translate_petsc(arguments);
  }
  arguments = without_mark(std::move(arguments));
  refuse_missing_values(arguments);
  for (const auto* sub : app.get_subcommands(nullptr)) {
    if (sub->get_name() == arguments.front()) refuse_single_dashes(*sub, arguments);
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return {nullptr, app.help()};
  } catch (const CLI::CallForVersion& call) {
    return {nullptr, std::string(call.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::bad_option, error.what());
  }
  const auto* sub = app.get_subcommands().front();
  const auto extras = sub->remaining();
  if (!extras.empty()) refuse_extra(*sub, extras.front());
  const auto command =
      std::find_if(commands.begin(), commands.end(), [&](const Command& one) { return sub->get_name() == one.name; });
  if (command->check) command->check([&](const std::string& name) { return sub->get_option(name)->count() > 0; });
  refuse_same_files(named_files(files));
  return {&*command, ""};
}

}  // namespace echelon::cli
