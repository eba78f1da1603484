// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "echelon/base/cuda_backend.hpp"
#include "echelon/base/error.hpp"

namespace echelon {
namespace {

std::int64_t read_number(const char* path, std::int64_t fallback) {
  std::ifstream in(path);
  std::int64_t value = 0;
  return in >> value ? value : fallback;
}

std::int64_t kernel_estimate() {
  std::ifstream in("/proc/meminfo");
  std::string key;
  std::int64_t kib = 0;
  std::string unit;
  while (in >> key >> kib && std::getline(in, unit)) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::int64_t available_bytes(Device device) {
  if (!device.is_host()) return cuda_backend()->free_bytes(device.index);
  const auto unlimited = std::numeric_limits<std::int64_t>::max();
  const auto limit = read_number("/sys/fs/cgroup/memory.max", unlimited);
  const auto used = limit == unlimited ? 0 : read_number("/sys/fs/cgroup/memory.current", 0);
  return std::min(kernel_estimate(), limit - used);
}

void require_memory(std::int64_t bytes, const std::string& what, Device device) {
  const auto there = available_bytes(device);
  if (bytes > there) {
    throw Error(ErrorCode::will_not_fit, fmt::format("{} needs {} and {} are free on {}", what, human_bytes(bytes),
                                                     human_bytes(there), device.name()));
  }
}

std::string human_bytes(std::int64_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 6) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace echelon
