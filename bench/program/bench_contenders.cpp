// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_contenders.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "bench/program/child_process.hpp"
#include "echelon/base/error.hpp"

namespace echelon::cli {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code unknown;
  const auto program = fs::read_symlink("/proc/self/exe", unknown);
  return unknown ? fs::path(".") : program.parent_path();
}

std::string program_name(const std::string& kind, const std::string& contender) {
  return fmt::format("bench_{}_{}", kind, contender);
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  const auto begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// PETSc's and Open MPI's banners come after the sentence that says what happened.
std::string last_words(const ChildOutcome& outcome) {
  if (!outcome.stopped.empty()) return outcome.stopped;
  for (const char* mark : {"PETSC ERROR: ", "not enough slots"}) {
    const auto at = outcome.err.find(mark);
    if (at != std::string::npos) return outcome.err.substr(at, outcome.err.find('\n', at) - at);
  }
  const auto said = last_line(outcome.err);
  return said.empty() ? fmt::format("it ended with status {}", outcome.status) : said;
}

/// One process with `count` threads, or so many ranks. Throws Error(file_missing) without mpirun.
ChildOutcome run_on_host(const Contender& contender, const bench::BenchCase& one, int count) {
  std::vector<std::string> command, environment;
  if (contender.workers == Workers::threads) {
    // Its threads wait as it chooses.
    environment = {fmt::format("OMP_NUM_THREADS={}", count), fmt::format("MKL_NUM_THREADS={}", count), "MKL_DYNAMIC=FALSE"};
  } else {
    // The others are single-threaded; several threads may only build the case before the clock starts.
    environment = {"OPENBLAS_NUM_THREADS=1", "OMP_WAIT_POLICY=passive"};
  }
  if (contender.workers == Workers::ranks && count > 1) {
    if (!in_path("mpirun")) throw Error(ErrorCode::file_missing, "mpirun is not installed");
    command = {"mpirun", "-n", std::to_string(count)};
    // Open MPI's own words for: root may, cores may be fewer than ranks, the kernel places processes.
    for (const char* line : {"OMP_NUM_THREADS=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                             "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none"}) {
      environment.emplace_back(line);
    }
  }
  command.push_back(contender.path);
  for (const auto& word : one.arguments()) command.push_back(word);
  return run_child(command, environment, {.seconds = contender.seconds});
}

SaidLines said_lines(const ChildOutcome& outcome) {
  SaidLines said{bench::from_lines(outcome.out), ""};
  if (outcome.status != 0 || !outcome.stopped.empty()) said.trouble = last_words(outcome);
  if (said.trouble.empty() && said.lines.empty()) said.trouble = "it said nothing";
  return said;
}

}  // namespace

std::vector<std::string> contender_names(const std::string& kind) {
  if (kind == "solver") return {"petsc", "hypre", "eigen"};
  return {"petsc", "hypre", "eigen", "mkl"};
}

std::vector<std::string> device_contender_names(const std::string& kind) {
  if (kind == "factor" || kind == "block") return {"csrilu02", "bsrilu02"};
  if (kind == "trisolve") return {"csrilu02"};
  if (kind == "solver") return {"cusparse"};
  if (kind == "convergence") return {"csrcolor"};
  return {"spsv", "bsrsv2", "spmv"};
}

std::vector<std::string> all_contender_names() {
  auto all = contender_names("trsv");
  for (const char* kind : {"trsv", "factor", "solver", "convergence"}) {
    for (auto& name : device_contender_names(kind)) all.push_back(std::move(name));
  }
  return all;
}

Contenders find_contenders(const std::string& kind, const std::vector<std::string>& names, const BenchOptions& options) {
  std::error_code unknown;
  std::vector<fs::path> folders = {program_folder(), program_folder().parent_path() / "bench"};
  if (!options.contenders.empty()) folders = {options.contenders};
  if (!options.contenders.empty() && !fs::is_directory(options.contenders, unknown)) {
    throw Error(ErrorCode::bad_option, fmt::format("--contenders: {} is no folder", options.contenders));
  }
  Contenders all;
  for (const auto& name : names) {
    const auto found = std::find_if(folders.begin(), folders.end(), [&](const fs::path& folder) {
      return access((folder / program_name(kind, name)).c_str(), X_OK) == 0;
    });
    if (found == folders.end()) {
      all.missing.push_back(name);
    } else {
      const auto path = fs::absolute(*found / program_name(kind, name));
      const auto workers = name == "eigen" ? Workers::one : name == "mkl" ? Workers::threads : Workers::ranks;
      all.found.push_back({name, path.string(), workers, options.contender_limit});
    }
  }
  return all;
}

bench::ContenderLine run_contender(const Contender& contender, const bench::BenchCase& one, int count) {
  const auto outcome = run_on_host(contender, one, count);
  if (outcome.status != 0 || !outcome.stopped.empty()) throw Error(ErrorCode::structure, last_words(outcome));
  return bench::from_line(outcome.out);
}

SaidLines run_contender_lines(const Contender& contender, const bench::BenchCase& one, int ranks) {
  try {
    return said_lines(run_on_host(contender, one, ranks));
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

SaidLines run_device_contender(const Contender& contender, const bench::BenchCase& one) {
  std::vector<std::string> command = {contender.path};
  for (const auto& word : one.arguments()) command.push_back(word);
  return said_lines(run_child(command, {}, {.seconds = contender.seconds}));
}

std::string program_commit() {
  try {
    const auto said =
        run_child({"git", "-C", program_folder().string(), "describe", "--always", "--dirty", "--exclude", "*"});
    return said.status == 0 ? last_line(said.out) : "";
  } catch (const Error&) {
    return "";
  }
}

}  // namespace echelon::cli
