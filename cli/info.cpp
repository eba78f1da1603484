// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/machine_info.hpp"
#include "cli/outputs.hpp"
#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/machine.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/version.hpp"
#include "echelon/report/json.hpp"
#include "echelon/report/table.hpp"

namespace echelon::cli {
namespace {

std::vector<std::string> gpu_lines() {
  std::vector<std::string> lines;
  const auto* cuda = cuda_backend();
  for (int i = 0; i < Device::cuda_count(); ++i) {
    lines.push_back(fmt::format("cuda:{} {}, {} free, copies {:.0f} GB/s", i, cuda->device_name(i),
                                human_bytes(cuda->free_bytes(i)), cuda->copy_bandwidth(i) / 1e9));
  }
  return lines;
}

}  // namespace

BackendInfo host_backend(bool with_bandwidth) {
  BackendInfo backend;
  backend.name = cpu_name();
  backend.threads = threads();
  backend.simd = simd_target();
  if (with_bandwidth) backend.copy_bandwidth = measure_copy_bandwidth();
  return backend;
}

std::string fewer_threads_remark() {
  if (threads() >= threads_asked_for()) return {};
  return fmt::format(
      "{} of the {} threads asked for could be created: processes or memory are limited (ulimit -u, ulimit -v)", threads(),
      threads_asked_for());
}

BackendInfo cuda_backend_info() {
  BackendInfo backend = host_backend(false);
  backend.kind = "cuda";
  backend.name = cuda_backend()->device_name(0);
  return backend;
}

int run_info(const std::string& json, int thread_count) {
  Output output(json);
  set_threads(thread_count);
  InfoReport report;
  report.backend = host_backend(true);
  report.cuda_built = built_with_cuda();
  report.memory_bytes = available_bytes();
  report.cache_bytes = last_level_cache_bytes();
  report.gpus = gpu_lines();
  output.write([&] { return to_json(report); });

  Table table({{"", Table::Align::left}, {"", Table::Align::left}});
  table.add({"version", fmt::format("echelon {}", version())});
  table.add({"CUDA", report.cuda_built ? "compiled in" : "not in this build (nvcc was not found when it was configured)"});
  table.add({"CPU", report.backend.name});
  table.add({"SIMD", report.backend.simd});
  table.add({"threads", fmt::format("{} of {}", report.backend.threads, hardware_threads())});
  table.add({"memory", fmt::format("{} free, last level cache {}", human_bytes(report.memory_bytes),
                                   human_bytes(report.cache_bytes))});
  table.add({"copy", fmt::format("{:.1f} GB/s, bytes read and written", report.backend.copy_bandwidth / 1e9)});
  if (report.gpus.empty()) table.add({"GPUs", "none found"});
  for (const auto& gpu : report.gpus) table.add({"GPU", gpu});
  Console console(false, json == "-");
  console.say(table.text());
  return exit_done;
}

}  // namespace echelon::cli
