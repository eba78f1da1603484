// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/machine.hpp"

#include <hwy/targets.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "echelon/base/array.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"

namespace echelon {

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(':');
    if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

std::string simd_target() {
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  // Highway numbers better targets lower.
  return hwy::TargetName(usable & -usable);
}

std::int64_t last_level_cache_bytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (l3 > 0) return l3;
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (l2 > 0) return l2;
#endif
  return 0;
}

std::int64_t copied_bytes(std::int64_t cache_bytes, std::int64_t free_bytes) {
  constexpr std::int64_t smallest = std::int64_t{16} << 20, unknown = std::int64_t{128} << 20;
  const std::int64_t wanted = cache_bytes > 0 ? std::max(cache_bytes, smallest) : unknown;
  return std::max<std::int64_t>(std::min(wanted, free_bytes / 8), 8192);
}

double measure_copy_bandwidth() {
  const std::int64_t n = copied_bytes(last_level_cache_bytes(), available_bytes()) / 8;
  Array<double> from(n), to(n);
  const int team = threads();
  const Timer clock;
  double best = 0;
  // The first pass touches the pages (each by the thread that copies it) and is not counted.
  for (int pass = 0; pass < 2 || clock.seconds() < 0.2; ++pass) {
    const Timer one;
#pragma omp parallel num_threads(team)
    {
      const auto [begin, end] = share(n, omp_get_thread_num(), omp_get_num_threads(), 512);
      if (pass == 0) std::fill(from.data() + begin, from.data() + end, 1.0);
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin) * sizeof(double));
    }
    if (pass > 0) best = std::max(best, 2.0 * static_cast<double>(n) * sizeof(double) / one.seconds());
  }
  return best;
}

}  // namespace echelon
