// SPDX-License-Identifier: BSD-3-Clause
// What would outgrow the machine is refused in words before it is allocated. The machine is made small by a limit on the
// address space, which a batch system may set too.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <vector>

#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/krylov/gmres_cycles.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/dbsr/dbsr.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/schedule/orders/matching.hpp"
#include "echelon/schedule/orders/weighted_matching.hpp"
#include "echelon/solve/matrix_check.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/random_matrix.hpp"
#include "tests/sanitized.hpp"

namespace echelon {
namespace {

/// Leaves this process so many bytes to ask for, until the end of the scope.
class SmallMachine {
 public:
  explicit SmallMachine(std::int64_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + bytes);
    lowered_ = setrlimit(RLIMIT_AS, &limit) == 0;
  }
  ~SmallMachine() { setrlimit(RLIMIT_AS, &before_); }
  bool lowered() const { return lowered_; }

 private:
  rlimit before_{};
  bool lowered_ = false;
};

constexpr std::int64_t mebibyte = 1 << 20;

class MemoryRefusals : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::sanitized()) GTEST_SKIP() << "a sanitizer's own address space passes any limit";
    set_threads(1);
  }
  void TearDown() override { set_threads(0); }
};

TEST_F(MemoryRefusals, TheLimitOfTheAddressSpaceCounts) {
  const SmallMachine machine(100 * mebibyte);
  ASSERT_TRUE(machine.lowered());
  EXPECT_LE(available_bytes(), 100 * mebibyte);
  EXPECT_GT(available_bytes(), 50 * mebibyte);
}

TEST_F(MemoryRefusals, FillThatOutgrowsTheMachine) {
  // An arrow that points the wrong way: the first elimination fills everything, 4·10⁸ entries.
  constexpr std::int32_t n = 20'000;
  std::vector<std::vector<std::int32_t>> rows(n);
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) {
      rows[static_cast<std::size_t>(i)] = {0, i};
    } else {
      for (std::int32_t j = 0; j < n; ++j) rows[0].push_back(j);
    }
  }
  const auto A = reference::with_random_values<double>(rows, 1, 1);
  const SmallMachine machine(200 * mebibyte);
  ASSERT_TRUE(machine.lowered());
  EXPECT_TRUE(ilu(A).report().ok);
  EXPECT_ERROR(ilu(A, {.fill = 1}), will_not_fit, "fill level 1: a pattern of ");
}

TEST_F(MemoryRefusals, BlocksThatOutgrowTheMachine) {
  // Every entry far from every other: each becomes a block of 64×64.
  constexpr std::int32_t n = 64 * 1000;
  std::vector<std::vector<std::int32_t>> rows(n);
  for (std::int32_t i = 0; i < n; ++i) {
    rows[static_cast<std::size_t>(i)] = {static_cast<std::int32_t>((std::int64_t{i} * 6421) % n)};
  }
  const auto A = reference::with_random_values<double>(rows, 1, 1);
  const SmallMachine machine(200 * mebibyte);
  ASSERT_TRUE(machine.lowered());
  EXPECT_ERROR(reblock(A, 64), will_not_fit, "blocks of 64×64 needs ");
}

TEST_F(MemoryRefusals, LanesWithoutBlocksThatOutgrowTheMachine) {
  // One block: 63 of 64 lanes hold nothing, and are stored.
  const auto A = problems::poisson({50, 50, 50}, stencils::star7());
  const DbsrOptions wide{{BlockChoice::given, {50, 50, 50}, 64, 1}, {}};
  const SmallMachine machine(200 * mebibyte);
  ASSERT_TRUE(machine.lowered());
  EXPECT_TRUE(dbsr(A).report().ok);
  EXPECT_ERROR(dbsr(A, wide), will_not_fit, "a matrix in diagonal block rows of 64 needs ");
}

/// Twice the unit matrix.
BlockCsr<double> long_diagonal(std::int32_t n) {
  Array<std::int64_t> start(n + 1);
  Array<std::int32_t> column(n);
  for (std::int32_t i = 0; i < n; ++i) start[i] = column[i] = i;
  start[n] = n;
  return {n, n, 1, std::move(start), std::move(column), Array<double>(n, 2.0)};
}

TEST_F(MemoryRefusals, MatchingsThatOutgrowTheMachine) {
  const auto A = long_diagonal(4'000'000);
  const SmallMachine machine(60 * mebibyte);
  ASSERT_TRUE(machine.lowered());
  EXPECT_ERROR(maximum_matching(A), will_not_fit, "the matching of 4000000 rows");
  EXPECT_ERROR((void)maximum_product_matching(A), will_not_fit, "the weighted matching of 4000000 rows");
}

TEST_F(MemoryRefusals, ACheckThatOutgrowsTheMachine) {
  const MatrixFile file{long_diagonal(4'000'000), {}};
  const SmallMachine machine(40 * mebibyte);
  ASSERT_TRUE(machine.lowered());
  EXPECT_ERROR(check_matrix(file, "A.mtx"), will_not_fit, "a look at A.mtx");
}

TEST(MemoryCounts, ABasisBeyondSixtyFourBitsIsStillTooLarge) {
  KrylovOptions options;
  options.restart = std::numeric_limits<int>::max();
  options.max_it = std::numeric_limits<std::int64_t>::max();
  const auto n = std::numeric_limits<std::int64_t>::max() / 64;
  for (const bool flexible : {false, true}) {
    EXPECT_EQ(gmres_bytes(n, options, flexible), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(gmres_columns(n, options), std::numeric_limits<int>::max() - 1);
  }
  options.restart = 30;
  options.basis = BasisPrecision::fp64;
  const auto usual = gmres_bytes(1'000'000, options, false);
  EXPECT_GE(usual, std::int64_t{31} * 8'000'000);
  EXPECT_LT(usual, std::int64_t{40} * 8'000'000);
}

}  // namespace
}  // namespace echelon
