// SPDX-License-Identifier: BSD-3-Clause
// What is kept of how rows meet, as far as the host decides it: how many places a row gets, that words of rows and records
// do not overlap, and when nothing is kept.
#include "echelon/factor/rows_gpu/row_meets.hpp"

#include <gtest/gtest.h>

#include <random>

namespace echelon {
namespace {

RowMeetsSize size_of(std::int64_t rows, std::int64_t entries_a_triangle, int longest) {
  RowMeetsSize size;
  size.rows = rows;
  size.lower = size.upper = entries_a_triangle;
  size.of_A = rows + 2 * entries_a_triangle;
  size.longest = longest;
  return size;
}

TEST(RowMeets, RowsHaveOnePlaceMoreThanEntries) {
  for (const auto& [longest, stride] : {std::pair{1, 8},
                                        {7, 8},
                                        {8, 16},
                                        {15, 16},
                                        {16, 32},
                                        {31, 32},
                                        {32, 64},
                                        {63, 64},
                                        {64, 96},
                                        {95, 96},
                                        {96, 128},
                                        {127, 128},
                                        {128, 192},
                                        {191, 192},
                                        {192, 256},
                                        {253, 256},
                                        {254, 0}}) {
    EXPECT_EQ(size_of(1000, 3000, longest).stride(), stride) << longest;
  }
}

TEST(RowMeets, NothingIsKeptOfLargeBlocksAndWhereIndicesDoNotReach) {
  RowMeetsSize size = size_of(1000, 3000, 7);
  for (int block = 1; block <= 10; ++block) {
    size.block = block;
    EXPECT_EQ(size.stride(), block <= 8 ? 8 : 0) << block;
    EXPECT_EQ(RowMeetsSize::longest_row(block) > 0, block <= 8) << block;
  }
  RowMeetsSize large = size_of(1, 0, 7);
  large.upper = (std::int64_t{1} << 32) - 3;
  EXPECT_EQ(large.stride(), 8);
  ++large.upper;
  EXPECT_EQ(large.stride(), 0);
  EXPECT_FALSE(RowMeets(size, Device::host()).view().kept());
  EXPECT_EQ(RowMeets(size, Device::host()).bytes(), 0);
  EXPECT_FALSE(RowMeets(size_of(0, 0, 1), Device::host()).view().kept());
}

TEST(RowMeets, ManyShortRowsShareWarps) {
  const std::int64_t many = RowMeetsSize::many_rows;
  for (const double far_rows : {0.0, 0.06, 0.07, 1.0}) {
    SCOPED_TRACE(far_rows);
    EXPECT_TRUE(RowMeetsSize::share_warps(many, 8, far_rows));
    EXPECT_TRUE(RowMeetsSize::share_warps(many, 16, far_rows));
    EXPECT_EQ(RowMeetsSize::share_warps(many, 32, far_rows), far_rows > 1.0 / 16);
    EXPECT_FALSE(RowMeetsSize::share_warps(many, 64, far_rows));
    EXPECT_FALSE(RowMeetsSize::share_warps(many - 1, 8, far_rows));
    EXPECT_FALSE(RowMeetsSize::share_warps(many - 1, 32, far_rows));
  }
  EXPECT_TRUE(RowMeetsSize::deal_out(many, 16));
  EXPECT_FALSE(RowMeetsSize::deal_out(many, 32));
  EXPECT_FALSE(RowMeetsSize::deal_out(many - 1, 16));
}

TEST(RowMeets, OneLongRowAmongManyIsNotWorthIt) {
  // 128 places a lower entry: 1.3 GB for factors of 0.06.
  EXPECT_FALSE(RowMeets(size_of(2'000'000, 2'000'000, 127), Device::host()).view().kept());
}

TEST(RowMeets, BytesAreThoseOfTheArrays) {
  for (const bool same : {true, false}) {
    RowMeetsSize size = size_of(100, 300, 7);
    size.same = same;
    RowMeets meets(size, Device::host());
    EXPECT_EQ(meets.bytes(), size.bytes());
    EXPECT_EQ(meets.bytes(), 4 * (600 + 300 + (150 + 1) * 8) + (same ? 0 : 800));
    EXPECT_EQ(meets.view().sources == nullptr, same);
  }
}

TEST(RowMeets, WordsOfRowsDoNotOverlapAndFit) {
  std::mt19937_64 random(3);
  for (int n = 0; n < 200; ++n) {
    const auto rows = static_cast<std::int64_t>(1 + random() % 40);
    std::int64_t lower = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto below = static_cast<std::int64_t>(random() % 12);
      const std::int64_t begin = RowMeetsView::first_word(i, lower), end = begin + (below + 3) / 4;
      lower += below;
      EXPECT_LE(end, RowMeetsView::first_word(i + 1, lower));
    }
  }
}

TEST(RowMeets, RecordsStandOneAfterTheOther) {
  // Three rows with 2, 1 and 0 entries of U; the last row is first.
  EXPECT_EQ(RowMeetsView::record(2, 2, 0), 0);
  EXPECT_EQ(RowMeetsView::record(2, 1, 0), 2);
  EXPECT_EQ(RowMeetsView::record(2, 0, 1), 5);
  EXPECT_EQ(RowMeetsView::upper_start(2, 1, 2), 0u);
  EXPECT_EQ(RowMeetsView::upper_start(2, 0, 5), 1u);
  RowMeetsSize size = size_of(3, 3, 3);
  EXPECT_EQ(size.words(), 5 + 2 + 2);
}

TEST(RowMeets, CountsGoThroughAHead) {
  const RowHead head = RowHead::unpacked(RowHead{252, 253, 251}.packed());
  EXPECT_EQ(head.below, 252);
  EXPECT_EQ(head.count, 253);
  EXPECT_EQ(head.entries, 251);
}

}  // namespace
}  // namespace echelon
