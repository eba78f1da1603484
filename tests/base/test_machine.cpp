// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/machine.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "echelon/base/version.hpp"

namespace echelon {
namespace {

TEST(Machine, HasANameAndATarget) {
  EXPECT_FALSE(cpu_name().empty());
  EXPECT_FALSE(simd_target().empty());
  EXPECT_GE(last_level_cache_bytes(), 0);
}

TEST(Machine, WhatIsCopiedDoesNotStayInTheCache) {
  constexpr std::int64_t mebibyte = 1 << 20, plenty = std::int64_t{1} << 40;
  for (const std::int64_t cache : {1 * mebibyte, 30 * mebibyte, 128 * mebibyte, 384 * mebibyte, 1152 * mebibyte}) {
    EXPECT_GE(2 * copied_bytes(cache, plenty), 2 * cache) << cache;
  }
  EXPECT_EQ(copied_bytes(0, plenty), 128 * mebibyte) << "the system does not say";
  EXPECT_EQ(copied_bytes(384 * mebibyte, 80 * mebibyte), 10 * mebibyte) << "memory comes first";
  EXPECT_GT(copied_bytes(0, 0), 0);
}

TEST(Machine, CopiesAtAPossibleSpeed) {
  const double bytes_a_second = measure_copy_bandwidth();
  EXPECT_GT(bytes_a_second, 1e7);
  EXPECT_LT(bytes_a_second, 1e14);
}

TEST(Version, HasThreeNumbers) {
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

}  // namespace
}  // namespace echelon
