// SPDX-License-Identifier: BSD-3-Clause
// HPCG's shapes, by hand from its rules, and places of ranks.
#include <gtest/gtest.h>

#include "echelon/comm/process_grid.hpp"
#include "tests/expect_error.hpp"

namespace echelon {
namespace {

TEST(ProcessGrid, HasHpcgsShapes) {
  const auto shape = [](int processes) { return hpcg_process_grid(processes).text(); };
  EXPECT_EQ(shape(1), "1x1x1");
  EXPECT_EQ(shape(2), "2x1x1");
  EXPECT_EQ(shape(3), "3x1x1");
  EXPECT_EQ(shape(4), "2x2x1");
  EXPECT_EQ(shape(6), "2x3x1");  // two primes, ascending
  EXPECT_EQ(shape(8), "2x2x2");
  EXPECT_EQ(shape(9), "3x3x1");
  EXPECT_EQ(shape(12), "2x3x2");  // the repeated one last
  EXPECT_EQ(shape(16), "4x2x2");
  EXPECT_EQ(shape(18), "2x3x3");
  EXPECT_EQ(shape(30), "2x3x5");
  EXPECT_EQ(shape(32), "4x4x2");
  EXPECT_EQ(shape(64), "4x4x4");
}

TEST(ProcessGrid, HasTheLeastSurfaceOfManyFactors) {
  for (int processes : {24, 36, 40, 48, 60, 72, 96, 100, 120, 144, 210, 360, 1000, 1024 * 3}) {
    const auto [px, py, pz] = hpcg_process_grid(processes).sides;
    ASSERT_EQ(px * py * pz, processes);
    const auto surface = px * py + py * pz + px * pz;
    for (int a = 2; a <= processes; ++a) {
      for (int b = 2; processes % a == 0 && b <= processes / a; ++b) {
        if (processes / a % b != 0) continue;
        const int c = processes / a / b;
        ASSERT_LE(surface, a * b + b * c + a * c) << processes;
      }
    }
  }
}

TEST(ProcessGrid, TakesTheFirstOfEqualSurfaces) {
  // 2·3·4: a = 2 comes first, and of its partners 2, 4, 3, … 4 is the first that leaves 3.
  EXPECT_EQ(hpcg_process_grid(24).text(), "2x4x3");
  EXPECT_EQ(hpcg_process_grid(36).text(), "4x3x3");
}

TEST(ProcessGrid, PlacesRanksWithXFastest) {
  const ProcessGrid grid{{4, 3, 2}};
  EXPECT_EQ(grid.place(0), (std::array{0, 0, 0}));
  EXPECT_EQ(grid.place(5), (std::array{1, 1, 0}));
  EXPECT_EQ(grid.place(12), (std::array{0, 0, 1}));
  for (int rank = 0; rank < grid.size(); ++rank) EXPECT_EQ(grid.rank(grid.place(rank)), rank);
  EXPECT_EQ(grid.rank({4, 0, 0}), -1);
  EXPECT_EQ(grid.rank({0, -1, 0}), -1);
}

TEST(ProcessGrid, RefusesWhatIsFlat) {
  EXPECT_EQ(too_flat({8, 1, 1}, "it"), "");
  EXPECT_EQ(too_flat({9, 1, 1}, "the grid of processes"), "the grid of processes is 9x1x1, flatter than 1:8");
  EXPECT_EQ(too_flat({16, 128, 64}, "it"), "");
  EXPECT_NE(too_flat({16, 136, 64}, "it"), "");
  EXPECT_NE(too_flat(hpcg_process_grid(11).sides, "it"), "");
  EXPECT_ERROR(hpcg_process_grid(0), bad_argument, "at least one; got 0");
}

}  // namespace
}  // namespace echelon
