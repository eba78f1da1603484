// SPDX-License-Identifier: BSD-3-Clause
// Arrays, errors, memory, threads and devices: what everything else stands on.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "echelon/base/array.hpp"
#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/worth_sharing.hpp"
#include "tests/expect_error.hpp"
#include "tests/sanitized.hpp"

namespace ec = echelon;
namespace {

TEST(Array, IsAlignedKnowsItsSizeAndCopiesOnlyWhenAsked) {
  ec::Array<double> a(5, 2.0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  EXPECT_EQ(a.size(), 5);
  EXPECT_EQ(a.bytes(), 40);
  EXPECT_TRUE(a.device().is_host());
  auto b = a.clone();
  b[0] = 7;
  EXPECT_EQ(a[0], 2);
  const double* where = a.data();
  const ec::Array<double> moved(std::move(a));
  EXPECT_EQ(moved.data(), where);
  EXPECT_EQ(moved[4], 2);
  static_assert(!std::is_copy_constructible_v<ec::Array<double>>);
  static_assert(!std::is_copy_assignable_v<ec::Array<double>>);
}

TEST(Array, AssignmentReleasesTheOldAndKeepsTheNew) {
  ec::Array<int> a{1, 2, 3}, b{4};
  a = std::move(b);
  ASSERT_EQ(a.size(), 1);
  EXPECT_EQ(a[0], 4);
}

TEST(Array, EmptyAllocatesNothing) {
  const auto before = ec::allocation_count();
  ec::Array<double> none, zero(0);
  zero.fill(1);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.clone().size(), 0);
  EXPECT_EQ(ec::allocation_count(), before);
  const ec::Array<double> one(1);
  EXPECT_EQ(ec::allocation_count(), before + 1);
}

TEST(Array, BytesAliveAndTheirPeak) {
  const auto before = ec::live_bytes();
  ec::restart_peak_bytes();
  EXPECT_EQ(ec::peak_bytes(), before);
  {
    ec::Array<double> kept(10);
    { const ec::Array<std::int32_t> passing(100); }
    ec::Array<double> taken = std::move(kept);
    kept = ec::Array<double>(3);
    EXPECT_EQ(ec::live_bytes(), before + 80 + 24);
  }
  EXPECT_EQ(ec::live_bytes(), before);
  EXPECT_EQ(ec::peak_bytes(), before + 80 + 400);
}

TEST(Array, BadInput) {
  EXPECT_ERROR(ec::Array<double>(-1), bad_argument, "-8 bytes");
  ec::Array<double> a(2), b(3);
  EXPECT_ERROR(a.copy_from(b), size_mismatch, "got 3 elements, expected 2");
}

TEST(Array, AnAllocationThatFailsIsOutOfMemory) {
  if (ec::test::sanitized()) GTEST_SKIP() << "sanitizers end the program on absurd sizes instead of returning null";
  EXPECT_ERROR(ec::Array<double>(std::int64_t{1} << 56), out_of_memory, "could not be allocated on host");
}

TEST(Memory, WhatWillNotFitIsRefusedWithBothNumbers) {
  EXPECT_GT(ec::available_bytes(), 0);
  ec::require_memory(1, "a byte");
  EXPECT_ERROR(ec::require_memory(std::int64_t{1} << 60, "the matrix"), will_not_fit, "the matrix needs 1.0 EiB and ");
  EXPECT_EQ(ec::saturated_bytes(3.5e9), std::int64_t{3'500'000'000});
  EXPECT_EQ(ec::saturated_bytes(1e30), std::numeric_limits<std::int64_t>::max());
}

TEST(Memory, HumanBytes) {
  EXPECT_EQ(ec::human_bytes(0), "0 bytes");
  EXPECT_EQ(ec::human_bytes(1023), "1023 bytes");
  EXPECT_EQ(ec::human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(ec::human_bytes(std::int64_t{5} << 30), "5.0 GiB");
}

TEST(Threads, SetAndAskedBack) {
  ec::set_threads(3);
  EXPECT_EQ(ec::threads(), 3);
  EXPECT_EQ(ec::threads_for(0), 1);
  EXPECT_EQ(ec::threads_for(std::int64_t{1} << 40), 3);
  ec::set_threads(0);
  EXPECT_GE(ec::threads(), 1);
  EXPECT_GE(ec::hardware_threads(), 1);
  EXPECT_ERROR(ec::set_threads(-1), bad_argument, "-1 threads");
  EXPECT_ERROR(ec::set_threads(ec::most_threads() + 1), bad_argument, "legal are 0 (all ");
  EXPECT_GE(ec::most_threads(), 64);
  EXPECT_GE(ec::most_threads(), ec::hardware_threads());
}

/// A team of another size would have the run time end threads and create them again for the next region.
TEST(Threads, OneOrAllAndOneForLittleWork) {
  ec::share_work_from(0);
  ec::set_threads(5);
  for (std::int64_t work = 0; work < 1'000'000; work += 1'000) {
    const int team = ec::threads_for(work);
    EXPECT_TRUE(team == 1 || team == 5) << work;
    if (work <= 5 * 5'005 + 5'005) {
      EXPECT_EQ(team, 1) << work;  // a product of 5,005 rows of a 5-point stencil
    }
  }
  EXPECT_EQ(ec::threads_for(100'000), 5);
  ec::share_work_from(1'000);
  EXPECT_EQ(ec::threads_for(1'000), 5);
  ec::share_work_from(0);
  ec::set_threads(0);
}

TEST(Threads, SharesCoverTheRangeOnceInWholeGrains) {
  for (const std::int64_t n : {0, 1, 7, 64, 65, 1000}) {
    for (const int parts : {1, 2, 3, 8}) {
      for (const std::int64_t grain : {1, 8}) {
        std::int64_t next = 0;
        for (int p = 0; p < parts; ++p) {
          const auto [begin, end] = ec::share(n, p, parts, grain);
          EXPECT_EQ(begin, next);
          EXPECT_LE(begin, end);
          EXPECT_TRUE(begin % grain == 0 || begin == n);
          next = end;
        }
        EXPECT_EQ(next, n);
      }
    }
  }
}

TEST(Error, CarriesCodeSentenceAndPlace) {
  const ec::Error plain(ec::ErrorCode::symmetry, "not symmetric");
  EXPECT_STREQ(plain.what(), "not symmetric");
  EXPECT_TRUE(plain.where().empty());
  const ec::Error placed(ec::ErrorCode::file_format, "a word where a number belongs", "a.mtx:3:7");
  EXPECT_STREQ(placed.what(), "a.mtx:3:7: a word where a number belongs");
  EXPECT_EQ(placed.where(), "a.mtx:3:7");
  EXPECT_EQ(placed.code(), ec::ErrorCode::file_format);
}

TEST(Error, EveryCodeHasItsOwnWordAndAnExitStatus) {
  std::set<std::string> words;
  for (int c = 0; c <= static_cast<int>(ec::ErrorCode::internal); ++c) {
    const auto code = static_cast<ec::ErrorCode>(c);
    EXPECT_TRUE(words.insert(ec::word(code)).second) << ec::word(code);
    const bool machine =
        code == ec::ErrorCode::will_not_fit || code == ec::ErrorCode::out_of_memory || code == ec::ErrorCode::device;
    EXPECT_EQ(ec::exit_status(code), machine ? 3 : 2);
  }
}

TEST(Device, NamesAndRefusals) {
  EXPECT_EQ(ec::Device::host().name(), "host");
  EXPECT_ERROR((void)ec::Device::cuda(1000), device, "CUDA");
}

TEST(Device, AGpuThatIsTooOldIsNamed) {
  EXPECT_ERROR(ec::require_capability(80, "NVIDIA A100"), device, "NVIDIA A100 has compute capability 8.0");
  EXPECT_NO_THROW(ec::require_capability(90, "NVIDIA H200"));
  EXPECT_NO_THROW(ec::require_capability(120, "a later one"));
}

TEST(Device, ArraysTravelThereAndBack) {
  if (ec::Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine, or a build without CUDA";
  ec::Array<double> a{1, 2, 3};
  const auto there = a.to(ec::Device::cuda());
  EXPECT_FALSE(there.device().is_host());
  const auto back = there.to(ec::Device::host());
  EXPECT_TRUE(std::equal(a.begin(), a.end(), back.begin()));
  ec::Array<double> filled(4, 5.0, ec::Device::cuda());
  EXPECT_EQ(filled.to(ec::Device::host())[3], 5);
}

}  // namespace
