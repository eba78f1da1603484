// SPDX-License-Identifier: BSD-3-Clause
// Counts every `operator new` of the program that includes it (in exactly one of its files), and the bytes alive: how a test
// proves that a loop allocates nothing and what a solve takes. Arrays have their own counts (base/array.hpp).
#pragma once

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

inline std::atomic<long> new_calls{0}, new_live_bytes{0}, new_peak_bytes{0};

inline void count_new_bytes(long bytes) {
  const long now = new_live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  long most = new_peak_bytes.load(std::memory_order_relaxed);
  while (now > most && !new_peak_bytes.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

// The thread sanitizer brings its own operator new into the program; under it the counts stay zero.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ECHELON_NEW_IS_TAKEN
#endif
#endif
#ifndef ECHELON_NEW_IS_TAKEN

// Not inlined: the compiler would see malloc behind new and free behind delete, and call them a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  new_calls.fetch_add(1, std::memory_order_relaxed);
  void* pointer = std::malloc(bytes ? bytes : 1);
  if (pointer) count_new_bytes(static_cast<long>(malloc_usable_size(pointer)));
  return pointer;
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* pointer = operator new(bytes, std::nothrow)) return pointer;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  new_calls.fetch_add(1, std::memory_order_relaxed);
  void* pointer = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (!pointer) throw std::bad_alloc();
  count_new_bytes(static_cast<long>(malloc_usable_size(pointer)));
  return pointer;
}
[[gnu::noinline]] void operator delete(void* pointer) noexcept {
  if (pointer) count_new_bytes(-static_cast<long>(malloc_usable_size(pointer)));
  std::free(pointer);
}
[[gnu::noinline]] void operator delete(void* pointer, std::size_t) noexcept { operator delete(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, const std::nothrow_t&) noexcept { operator delete(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::align_val_t) noexcept { operator delete(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { operator delete(pointer); }
#endif
