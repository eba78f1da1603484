// SPDX-License-Identifier: BSD-3-Clause
// `echelon info`: the machine and what this build has, as a table and as JSON.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/machine_info.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/machine.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/version.hpp"
#include "echelon/comm/launcher.hpp"
#include "echelon/report/json.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

struct InfoOptions {
  std::string json;
  int threads = 0;
};

void add_info_options(const OptionList& options, InfoOptions& o) {
  OptionGroup group(options);
  group.file("--json", o.json, json_help, FileRole::output);
  group.count("--threads", o.threads, "0: as many as there are", 0, most_threads(), "T");
}

std::vector<std::string> gpu_lines() {
  std::vector<std::string> lines;
  const auto* cuda = cuda_backend();
  for (int i = 0; i < Device::cuda_count(); ++i) {
    lines.push_back(fmt::format("cuda:{} {}, {} free, copies {:.0f} GB/s", i, cuda->device_name(i),
                                human_bytes(cuda->free_bytes(i)), cuda->copy_bandwidth(i) / 1e9));
  }
  return lines;
}

int run_info(const InfoOptions& options) {
  Output output(options.json);
  set_threads(options.threads);
  InfoReport report;
  report.backend = host_backend(true);
  report.cuda_built = built_with_cuda();
  report.mpi_built = !mpi_module_path().empty();
  report.memory_bytes = available_bytes();
  report.cache_bytes = last_level_cache_bytes();
  report.gpus = gpu_lines();
  output.write([&] { return to_json(report); });

  Table table({{"", Table::Align::left}, {"", Table::Align::left}});
  table.add({"version", fmt::format("echelon {}", version())});
  table.add({"CUDA", report.cuda_built ? "compiled in" : "not in this build (nvcc was not found when it was configured)"});
  table.add({"MPI", report.mpi_built ? "libechelon_mpi.so is there, for runs under mpirun"
                                     : "not in this build (its headers were not found when it was configured)"});
  table.add({"CPU", report.backend.name});
  table.add({"SIMD", report.backend.simd});
  table.add({"threads", fmt::format("{} of {}", report.backend.threads, hardware_threads())});
  table.add({"memory", fmt::format("{} free, last level cache {}", human_bytes(report.memory_bytes),
                                   human_bytes(report.cache_bytes))});
  table.add({"copy", fmt::format("{:.1f} GB/s, bytes read and written", report.backend.copy_bandwidth / 1e9)});
  if (report.gpus.empty()) table.add({"GPUs", "none found"});
  for (const auto& gpu : report.gpus) table.add({"GPU", gpu});
  Console console(false, options.json == "-");
  console.say(table.text());
  return exit_done;
}

}  // namespace

Command info_command() {
  const auto o = std::make_shared<InfoOptions>();
  return {.name = "info",
          .help = "version, build features, CPU, GPUs, bandwidth",
          .add_options = [o](const OptionList& options) { add_info_options(options, *o); },
          .run = [o](const Arguments&) { return run_info(*o); }};
}

}  // namespace echelon::cli
