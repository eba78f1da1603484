// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/thread_trial.hpp"

#include <pthread.h>

#include <atomic>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace echelon {
namespace {

/// "4M", "512 k", "2048" (KiB); 0: the default, or a text the run time would not take either.
std::size_t stack_size() {
  for (const char* name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
    const char* text = std::getenv(name);
    if (!text) continue;
    char* end = nullptr;
    const unsigned long long number = std::strtoull(text, &end, 10);
    if (end == text) continue;
    while (std::isspace(static_cast<unsigned char>(*end))) ++end;
    int shift = 10;
    switch (std::tolower(static_cast<unsigned char>(*end))) {
      case 'b': shift = 0; break;
      case 'm': shift = 20; break;
      case 'g': shift = 30; break;
      default: break;
    }
    return static_cast<std::size_t>(number) << shift;
  }
  return 0;
}

void* wait_for_the_end(void* flag) {
  static_cast<const std::atomic<bool>*>(flag)->wait(false);
  return nullptr;
}

}  // namespace

int threads_to_be_had(int wanted) noexcept {
  std::atomic<bool> ended{false};
  std::vector<pthread_t> team;
  try {
    team.reserve(static_cast<std::size_t>(wanted));
  } catch (const std::bad_alloc&) {
    return 1;
  }
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 1;
  // A size that pthreads refuse is the default's, as it is for the run time.
  if (const std::size_t size = stack_size(); size > 0) static_cast<void>(pthread_attr_setstacksize(&attributes, size));
  for (int i = 1; i < wanted; ++i) {
    pthread_t thread{};
    if (pthread_create(&thread, &attributes, wait_for_the_end, &ended) != 0) break;
    team.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  ended.store(true);
  ended.notify_all();
  for (const pthread_t thread : team) pthread_join(thread, nullptr);
  return static_cast<int>(team.size()) + 1;
}

}  // namespace echelon
