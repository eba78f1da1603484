// SPDX-License-Identifier: BSD-3-Clause
// Counts every `operator new` of the program that includes it (in exactly one of its files): how a test proves that a loop
// allocates nothing. Arrays have their own count, echelon::allocation_count().
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

inline std::atomic<long> new_calls{0};

// The thread sanitizer brings its own operator new into the program; under it the count stays zero.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ECHELON_NEW_IS_TAKEN
#endif
#endif
#ifndef ECHELON_NEW_IS_TAKEN

// Not inlined: the compiler would see malloc behind new and free behind delete, and call them a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  new_calls.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes ? bytes : 1);
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* pointer = operator new(bytes, std::nothrow)) return pointer;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* pointer) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, const std::nothrow_t&) noexcept { std::free(pointer); }
#endif
