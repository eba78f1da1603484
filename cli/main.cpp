// SPDX-License-Identifier: BSD-3-Clause
// The program: parse, run one command, and turn whatever goes wrong into a sentence and an exit status (0, 1, 2, 3 or 130).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "cli/waiting_threads.hpp"
#include "echelon/base/error.hpp"
#include "echelon/report/json.hpp"

namespace {

using echelon::Error;
using echelon::ErrorCode;
using Arguments = std::vector<std::string>;

int run(const Arguments& arguments) {
  using namespace echelon::cli;
  const Options options = parse(arguments);
  if (!options.answer.empty()) {
    std::fputs(options.answer.c_str(), stdout);
    return exit_done;
  }
  if (options.command == "solve") return run_solve(options.solve, arguments);
  if (options.command == "bench") return run_bench(options.bench, arguments);
  if (options.command == "check") return run_check(options.check, arguments);
  if (options.command == "selftest") return run_selftest(options.json, options.threads);
  return run_info(options.json, options.threads);
}

/// The report's path, found without the parser: the line may be what is wrong.
std::string json_path(const Arguments& arguments) {
  std::string path;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--json" && i + 1 < arguments.size()) path = arguments[i + 1];
    if (arguments[i].rfind("--json=", 0) == 0) path = arguments[i].substr(7);
  }
  return path;
}

/// A report must not take the place of another file on the line, least of all when the line is what is wrong.
bool names_another_file(const std::string& path, const Arguments& arguments) {
  const auto same = [&](const std::string& other) {
    std::error_code unknown;
    return other == path ||
           (std::filesystem::is_regular_file(other, unknown) && std::filesystem::equivalent(other, path, unknown));
  };
  return path != "-" && std::count_if(arguments.begin(), arguments.end(), same) > 1;
}

int fail(const Error& error, const Arguments& arguments) {
  std::fflush(stdout);
  std::fputs(fmt::format("echelon: {}\n", error.what()).c_str(), stderr);
  const auto path = json_path(arguments);
  if (!path.empty() && path != error.where() && !names_another_file(path, arguments)) {
    try {
      const std::string command = arguments.empty() ? "" : arguments.front();
      echelon::cli::write_report(path, echelon::error_json(command, arguments, error));
      echelon::cli::finish_output();
    } catch (const Error& second) {
      std::fputs(fmt::format("echelon: the report could not be written either: {}\n", second.what()).c_str(), stderr);
    }
  }
  return echelon::exit_status(error.code());
}

}  // namespace

int main(int argc, char** argv) {
  echelon::cli::choose_how_threads_wait(argv);
  const Arguments arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  echelon::cli::catch_signals();
  try {
    const int status = run(arguments);
    echelon::cli::finish_output();
    return status;
  } catch (const Error& error) {
    return fail(error, arguments);
  } catch (const std::bad_alloc&) {
    return fail(Error(ErrorCode::out_of_memory, "memory ran out; try a smaller problem, less fill or a shorter restart"),
                arguments);
  } catch (const std::exception& error) {
    return fail(Error(ErrorCode::internal, fmt::format("a bug of ours: {}", error.what())), arguments);
  }
}
