// SPDX-License-Identifier: BSD-3-Clause
// Whether this is a sanitizer's build. They reserve terabytes of addresses and end the program on absurd sizes, so a test of
// memory limits would say nothing about us there; the release build runs every such test.
#pragma once

namespace echelon::test {

constexpr bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#endif
#endif
  return false;
}

}  // namespace echelon::test
