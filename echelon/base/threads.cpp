// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/threads.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {
std::atomic<int> chosen{0};
}

int hardware_threads() noexcept { return omp_get_num_procs(); }

int threads() noexcept {
  const int count = chosen.load(std::memory_order_relaxed);
  return count > 0 ? count : omp_get_max_threads();
}

int most_threads() noexcept { return std::max(64, 4 * hardware_threads()); }

void set_threads(int count) {
  if (count < 0 || count > most_threads()) {
    throw Error(ErrorCode::bad_argument, fmt::format("{} threads were asked for; legal are 0 (all {} that there are) to {}",
                                                     count, hardware_threads(), most_threads()));
  }
  chosen.store(count, std::memory_order_relaxed);
}

}  // namespace echelon
