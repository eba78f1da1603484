// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/rows_gpu/one_block_plan.hpp"

#include <gtest/gtest.h>

namespace echelon {
namespace {

constexpr std::int64_t memory = 227 * 1024;

TEST(OneBlockPlan, AllPartsFitAndBeginWhereCopiesMay) {
  int made = 0;
  for (const int block : {1, 2, 3, 4, 5, 6, 7, 8}) {
    for (const std::int64_t rows : {1, 7, 500, 2000, 3500, 16129, 28000}) {
      for (const int longest : {0, 1, 6, 40, 250}) {
        const OneBlockPlan plan = OneBlockPlan::make(rows, rows, block, longest, 0.5 * longest, memory);
        if (!plan.used()) continue;
        ++made;
        const int warps = plan.threads / 32, entry = 8 * block * block + 4;
        EXPECT_LE(plan.shared_bytes, memory);
        EXPECT_EQ(plan.shared_bytes, OneBlockPlan::vector_bytes(rows, block) + warps * plan.staged * entry);
        EXPECT_GE(OneBlockPlan::vector_bytes(rows, block), rows * block * 8);
        EXPECT_EQ(OneBlockPlan::vector_bytes(rows, block) % 16, 0);
        EXPECT_EQ(plan.staged * 8 * block * block % 16, 0);
        EXPECT_GE(plan.staged, longest) << "a row must fit";
        EXPECT_GE(warps, 8);
        EXPECT_LE(plan.threads, OneBlockPlan::most_threads);
      }
    }
  }
  EXPECT_GT(made, 100);
}

TEST(OneBlockPlan, WideLevelsAndLargeVectorsGoToAllProcessors) {
  EXPECT_TRUE(OneBlockPlan::make(10000, 199, 1, 3, 2, memory).used());
  EXPECT_FALSE(OneBlockPlan::make(8000, 58, 1, 4, 3, memory).used()) << "138 rows at once";
  EXPECT_FALSE(OneBlockPlan::make(40000, 40000, 1, 3, 2, memory).used()) << "x does not fit";
  EXPECT_FALSE(OneBlockPlan::make(1000, 1000, 9, 3, 2, memory).used()) << "no kernel for blocks of nine";
  EXPECT_FALSE(OneBlockPlan::make(28000, 28000, 1, 400, 2, memory).used()) << "a row does not fit beside x";
}

TEST(OneBlockPlan, FewerWarpsWhereTheirRowsNeedTheRoom) {
  EXPECT_EQ(OneBlockPlan::make(1000, 300, 1, 40, 10, memory).threads, 512);
  EXPECT_EQ(OneBlockPlan::make(2000, 600, 1, 60, 40, memory).threads, 256);
}

}  // namespace
}  // namespace echelon
