// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"

namespace echelon {
namespace {

std::int64_t read_number(const char* path, std::int64_t fallback) {
  std::ifstream in(path);
  std::int64_t value = 0;
  return in >> value ? value : fallback;
}

/// The number after `wanted` in a file of "key number" lines.
std::int64_t read_entry(const char* path, const char* wanted, std::int64_t fallback) {
  std::ifstream in(path);
  std::string key, rest;
  std::int64_t value = 0;
  while (in >> key >> value && std::getline(in, rest)) {
    if (key == wanted) return value;
  }
  return fallback;
}

std::int64_t kernel_estimate() {
  const auto kib = read_entry("/proc/meminfo", "MemAvailable:", -1);
  return kib < 0 ? std::numeric_limits<std::int64_t>::max() : kib * 1024;
}

/// What the control group cannot give back: files it has read stay cached only while nobody needs the memory.
std::int64_t group_use() {
  const char* details = "/sys/fs/cgroup/memory.stat";
  const auto cached = read_entry(details, "active_file", 0) + read_entry(details, "inactive_file", 0);
  return std::max<std::int64_t>(0, read_number("/sys/fs/cgroup/memory.current", 0) - cached);
}

std::int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<std::int64_t>::max();
  const auto pages = read_number("/proc/self/statm", 0);  // its first number: all that is mapped
  return std::max<std::int64_t>(0, saturated_bytes(static_cast<double>(limit.rlim_cur)) - pages * sysconf(_SC_PAGESIZE));
}

}  // namespace

std::int64_t available_bytes(Device device) {
  if (!device.is_host()) return cuda_backend()->free_bytes(device.index);
  const auto unlimited = std::numeric_limits<std::int64_t>::max();
  const auto limit = read_number("/sys/fs/cgroup/memory.max", unlimited);
  const auto used = limit == unlimited ? 0 : group_use();
  return std::min({kernel_estimate(), limit - used, address_space_left()});
}

void require_memory(std::int64_t bytes, const std::string& what, Device device) {
  if (!device.is_host() && cuda_backend()->has_free(device.index, bytes)) return;
  const auto there = available_bytes(device);
  if (bytes > there) {
    throw Error(ErrorCode::will_not_fit, fmt::format("{} needs {} and {} are free on {}", what, human_bytes(bytes),
                                                     human_bytes(there), device.name()));
  }
}

std::int64_t saturated_bytes(double bytes) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return bytes < static_cast<double>(most) ? static_cast<std::int64_t>(bytes) : most;
}

std::string human_bytes(std::int64_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 6) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace echelon
