// SPDX-License-Identifier: BSD-3-Clause
// How the host waits for words that a kernel writes to pinned memory: it looks at them itself, which sees them some
// microseconds before the runtime says that all is done.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/error.hpp"

namespace echelon {

/// Until there(). Now and then the runtime is asked whether all that was queued has ended: a kernel may have faulted.
template <class There>
void watch_for(const There& there, const char* what) {
  using clock = std::chrono::steady_clock;
  constexpr auto between_questions = std::chrono::microseconds(500);
  constexpr int looks_between_clocks = 64;
  auto asked = clock::now();
  for (int looks = 1; !there(); ++looks) {
    if (looks < looks_between_clocks) continue;
    looks = 0;
    if (clock::now() - asked < between_questions) continue;
    const cudaError_t state = cudaStreamQuery(nullptr);
    if (state == cudaErrorNotReady) {
      static_cast<void>(cudaGetLastError());  // remembers that answer, which is none
      std::this_thread::yield();
      asked = clock::now();
      continue;
    }
    check_cuda(state, what);
    if (!there()) throw Error(ErrorCode::device, std::string(what) + ": the GPU has ended and they did not come");
  }
}

}  // namespace echelon
