// SPDX-License-Identifier: BSD-3-Clause
// The program: parse, run one command of the list, and turn whatever goes wrong into a sentence and an exit status (0, 1, 2,
// 3 or 130).
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <string>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/launched_run.hpp"
#include "cli/line/command_line.hpp"
#include "cli/line/line_files.hpp"
#include "cli/outputs.hpp"
#include "cli/waiting_threads.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/base/utf8.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/comm/agreement.hpp"
#include "echelon/report/json.hpp"

namespace {

using echelon::Error;
using echelon::ErrorCode;
using echelon::cli::Arguments;

int run(const Arguments& arguments) {
  using namespace echelon::cli;
  const auto commands = all_commands();
  const auto line = parse(commands, arguments);
  if (line.command) {
    require_ranks_are_known(*line.command);
    return line.command->run(arguments);
  }
  std::fputs(line.answer.c_str(), stdout);
  return exit_done;
}

/// Whether the report itself is what could not be written; trying again would only say it twice.
bool is_about_the_report(const Error& error, const std::string& path) {
  return error.where() == (path == "-" ? echelon::cli::standard_output_name : path);
}

int fail(const Error& error, const Arguments& arguments) {
  using namespace echelon;
  if (!cli::speaks()) return exit_status(error.code());
  std::fflush(stdout);
  std::fputs(fmt::format("echelon: {}\n", printable(error.what())).c_str(), stderr);
  const auto path = cli::error_report_path(arguments);
  if (!path.empty() && !is_about_the_report(error, path)) {
    try {
      const std::string command = arguments.empty() ? "" : arguments.front();
      cli::write_report(path, error_json(command, arguments, error));
      cli::finish_output();
    } catch (const Error& second) {
      std::fputs(fmt::format("echelon: the report could not be written either: {}\n", printable(second.what())).c_str(),
                 stderr);
    }
  }
  return exit_status(error.code());
}

/// The run is over and its report written: words that reach nobody change the status and nothing else.
int with_words_out(int status) {
  try {
    echelon::cli::finish_output();
    return status;
  } catch (const Error& error) {
    std::fputs(fmt::format("echelon: {}\n", error.what()).c_str(), stderr);
    return echelon::exit_status(error.code());
  }
}

/// Turns what a run throws into a sentence and a status.
int run_guarded(const Arguments& arguments, const std::function<int()>& work) {
  try {
    return with_words_out(work());
  } catch (const Error& error) {
    return fail(error, arguments);
  } catch (const echelon::WorkStopped& stopped) {
    echelon::cli::Console(true, false).complain(fmt::format("echelon: {}\n", stopped.what()));
    return echelon::cli::exit_interrupted;
  } catch (const echelon::RanksLost&) {
    throw;  // beyond words that all ranks agree on
  } catch (const std::bad_alloc&) {
    return fail(Error(ErrorCode::out_of_memory, "memory ran out; try a smaller problem, less fill or a shorter restart"),
                arguments);
  } catch (const std::exception& error) {
    return fail(Error(ErrorCode::internal, fmt::format("a bug of ours: {}", error.what())), arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  echelon::cli::threads_know_how_to_wait();
  const Arguments arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  echelon::cli::catch_signals();
  echelon::count_ordinals_from(1);  // as files and the people who read the output do
  return echelon::cli::run_as_launched(
      arguments, [&] { return run(arguments); }, [&](const auto& work) { return run_guarded(arguments, work); });
}
