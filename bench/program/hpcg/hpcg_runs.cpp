// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/hpcg/hpcg_runs.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "bench/program/child_process.hpp"
#include "echelon/base/error.hpp"
#include "echelon/report/json_parts.hpp"

namespace echelon::cli {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that is gone afterwards.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "echelon-hpcg-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw Error(ErrorCode::file_missing, "no folder can be made for a run of HPCG");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code left_behind;
    fs::remove_all(path_, left_behind);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> launched(const HpcgLayout& layout, std::vector<std::string> command) {
  if (layout.ranks == 1) return command;
  if (!in_path("mpirun")) throw Error(ErrorCode::file_missing, "mpirun is not installed");
  std::vector<std::string> all = {"mpirun", "-n", std::to_string(layout.ranks)};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

/// Open MPI's own words for: root may, cores may be fewer than ranks, the kernel places processes.
std::vector<std::string> environment(const HpcgLayout& layout) {
  return {fmt::format("OMP_NUM_THREADS={}", layout.threads), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
          "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none"};
}

std::string last_words(const ChildOutcome& outcome) {
  if (!outcome.stopped.empty()) return outcome.stopped;
  std::string words = outcome.err.empty() ? outcome.out : outcome.err;
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  words = words.substr(words.rfind('\n') + 1);
  return fmt::format("it ended with status {}{}", outcome.status, words.empty() ? "" : ": " + words);
}

std::string own_program() {
  std::error_code unknown;
  const auto program = fs::read_symlink("/proc/self/exe", unknown);
  if (unknown) throw Error(ErrorCode::file_missing, "this program does not find itself");
  return program.string();
}

double number_after(const std::string& text, const std::string& mark) {
  const auto at = text.find(mark);
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + mark.size(), nullptr);
}

std::string all_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

HpcgRun run_own_hpcg(const HpcgLayout& layout, const std::string& smoother, double seconds, double limit) {
  const Folder folder;
  const auto report = (folder.path() / "report.json").string();
  const auto outcome = run_child(launched(layout, {own_program(), "hpcg", "--grid", std::to_string(layout.side), "--seconds",
                                                   fmt::format("{}", seconds), "--threads", std::to_string(layout.threads),
                                                   "--smoother", smoother, "--json", report, "-q"}),
                                 environment(layout), {.seconds = limit});
  if (outcome.status != 0 || !outcome.stopped.empty()) throw Error(ErrorCode::structure, last_words(outcome));
  try {
    const Json json = Json::parse(all_of(report)).at("hpcg");
    HpcgRun run;
    run.rating = json.at("rating_gflops");
    run.raw = json.at("raw_gflops");
    run.bound = json.at("bound_gflops");
    run.percent_of_bound = json.at("percent_of_bound");
    run.triad = 1e9 * json.at("triad_gbs").get<double>();
    run.iterations = json.at("optimized_iterations");
    run.residual = json.at("residual");
    run.equations = json.at("equations");
    run.nonzeros = json.at("nonzeros");
    for (int d = 0; d < 3; ++d) run.grid[d] = json.at("grid").at(static_cast<std::size_t>(d));
    const Json& time = json.at("seconds");
    const double iteration =
        time.at("total").get<double>() / json.at("sets").get<double>() / static_cast<double>(run.iterations);
    run.setup_iterations = (time.at("setup").get<double>() + time.at("optimize").get<double>()) / iteration;
    return run;
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::structure, fmt::format("its report cannot be read: {}", error.what()));
  }
}

HpcgRun read_hpcg_report(const std::string& text) {
  const auto rating = number_after(text, "HPCG result is VALID with a GFLOP/s rating of=");
  if (!(rating > 0)) throw Error(ErrorCode::structure, "the reference's report has no VALID rating");
  HpcgRun run;
  run.what = "HPCG 3.1";
  run.rating = rating;
  run.raw = number_after(text, "GFLOP/s Summary::Raw Total=");
  run.iterations =
      static_cast<std::int64_t>(number_after(text, "Iteration Count Information::Optimized CG iterations per set="));
  run.residual = number_after(text, "Reproducibility Information::Scaled residual mean=");
  run.equations = static_cast<std::int64_t>(number_after(text, "Linear System Information::Number of Equations="));
  run.nonzeros = static_cast<std::int64_t>(number_after(text, "Linear System Information::Number of Nonzero Terms="));
  return run;
}

HpcgRun run_reference_hpcg(const HpcgLayout& layout, const std::string& program, double seconds, double limit) {
  const Folder folder;
  const auto side = std::to_string(layout.side);
  std::vector<std::string> command = {"env", "-C", folder.path().string()};
  for (auto& word : launched(layout, {fs::absolute(program).string(), "--nx=" + side, "--ny=" + side, "--nz=" + side,
                                      fmt::format("--rt={}", static_cast<std::int64_t>(seconds))})) {
    command.push_back(word);
  }
  const auto outcome = run_child(command, environment(layout), {.seconds = limit});
  if (outcome.status != 0 || !outcome.stopped.empty()) throw Error(ErrorCode::structure, last_words(outcome));
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    const auto name = entry.path().filename().string();
    if (name.rfind("HPCG-Benchmark", 0) == 0) return read_hpcg_report(all_of(entry.path()));
  }
  throw Error(ErrorCode::structure, "the reference left no report");
}

double rated_set_flops(const HpcgRun& run) {
  constexpr double iterations = 50;
  const double equations = static_cast<double>(run.equations), nonzeros = static_cast<double>(run.nonzeros);
  // Of the coarser levels as HPCG counts them: 27 neighbours inside the grid.
  const auto nonzeros_of = [&](int level) {
    double count = 1;
    for (const std::int64_t side : run.grid) count *= 3 * static_cast<double>(side >> level) - 2;
    return count;
  };
  const double smoothed = 10 * (nonzeros + nonzeros_of(1) + nonzeros_of(2)) + 4 * nonzeros_of(3);
  return 4 * (3 * iterations + 1) * equations + 2 * (iterations + 1) * nonzeros + iterations * smoothed;
}

}  // namespace echelon::cli
