// SPDX-License-Identifier: BSD-3-Clause
// Every value of the halo against the number of its point in the whole grid, for boxes of all sides from 1 to 5, and shapes
// of processes in every direction.
#include <gtest/gtest.h>

#include <vector>

#include "echelon/comm/halo.hpp"
#include "tests/counted_new.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/threaded_ranks.hpp"

namespace echelon {
namespace {

using test::run_ranks;

struct Whole {
  ProcessGrid processes;
  std::array<int, 3> sides;

  /// Of a point of the box of `rank`, given by its place in that box; −1 outside the whole grid.
  double number(int rank, std::array<int, 3> at, int round) const {
    const auto place = processes.place(rank);
    double value = 0;
    for (std::size_t d = 3; d-- > 0;) {
      const int all = processes.sides[d] * sides[d], here = place[d] * sides[d] + at[d];
      if (here < 0 || here >= all) return -1;
      value = value * all + here;
    }
    return value + 1e6 * round;
  }
};

void exchange_and_check(const Communicator& ranks, const Whole& whole, int rounds) {
  BoxHalo halo(ranks, whole.processes, whole.sides);
  const auto [nx, ny, nz] = whole.sides;
  std::vector<double> x(static_cast<std::size_t>(nx * ny * nz));
  for (int round = 0; round < rounds; ++round) {
    std::size_t at = 0;
    for (int k = 0; k < nz; ++k) {
      for (int j = 0; j < ny; ++j) {
        for (int i = 0; i < nx; ++i) x[at++] = whole.number(ranks.rank(), {i, j, k}, round);
      }
    }
    halo.start(x.data());
    std::ranges::fill(x, -7.0);  // may change at once
    while (round % 2 == 1 && !halo.arrived()) std::this_thread::yield();
    const auto values = halo.finish();
    std::int64_t found = 0;
    for (int k = -1; k <= nz; ++k) {
      for (int j = -1; j <= ny; ++j) {
        for (int i = -1; i <= nx; ++i) {
          if (i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz) continue;
          const double wanted = whole.number(ranks.rank(), {i, j, k}, round);
          const auto index = halo.index(i, j, k);
          ASSERT_EQ(index >= 0, wanted >= 0) << i << " " << j << " " << k;
          if (index < 0) continue;
          ASSERT_LT(index, halo.size());
          ASSERT_EQ(values[static_cast<std::size_t>(index)], wanted) << i << " " << j << " " << k;
          ++found;
        }
      }
    }
    ASSERT_EQ(found, halo.size());  // one place for each point, and no more
  }
}

TEST(BoxHalo, HasEveryNeighboursValues) {
  const std::vector<std::array<int, 3>> shapes = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {3, 1, 1},
                                                  {1, 1, 3}, {2, 2, 1}, {1, 2, 2}, {2, 1, 2}, {4, 1, 1},
                                                  {2, 3, 1}, {1, 3, 2}, {2, 2, 2}};
  std::uint64_t seed = 1;
  for (const auto& shape : shapes) {
    const ProcessGrid processes{shape};
    run_ranks(
        processes.size(),
        [&](const Communicator& ranks) {
          for (int nx = 1; nx <= 5; ++nx) {
            for (int ny = 1; ny <= 5; ny += 2) {
              for (int nz = 1; nz <= 5; nz += 1 + ny % 3) exchange_and_check(ranks, {processes, {nx, ny, nz}}, 2);
            }
          }
        },
        seed++);
  }
}

TEST(BoxHalo, ACentreHas26Neighbours) {
  run_ranks(27, [](const Communicator& ranks) {
    const ProcessGrid processes{{3, 3, 3}};
    exchange_and_check(ranks, {processes, {2, 3, 1}}, 1);
    const BoxHalo halo(ranks, processes, {2, 3, 1});
    if (ranks.rank() != 13) return;
    EXPECT_EQ(halo.size(), 4 * 5 * 3 - 6);
    EXPECT_EQ(halo.neighbour(-1, -1, -1), 0);
    EXPECT_EQ(halo.neighbour(1, 0, 0), 14);
    EXPECT_EQ(halo.neighbour(1, 1, 1), 26);
    EXPECT_EQ(halo.neighbour(0, 0, 0), -1);
  });
}

TEST(BoxHalo, APieceByHand) {
  // Two boxes of 2×2×1 side by side: each needs the two points of the other's nearer column.
  run_ranks(2, [](const Communicator& ranks) {
    BoxHalo halo(ranks, {{2, 1, 1}}, {2, 2, 1});
    const double base = 10.0 * ranks.rank();
    const std::array<double, 4> x{base, base + 1, base + 2, base + 3};
    halo.start(x.data());
    const auto values = halo.finish();
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0], ranks.rank() == 0 ? 10 : 1);
    EXPECT_EQ(values[1], ranks.rank() == 0 ? 12 : 3);
    EXPECT_EQ(halo.index(2, 1, 0), ranks.rank() == 0 ? 1 : -1);
  });
}

TEST(BoxHalo, OneProcessHasNoHalo) {
  BoxHalo halo(serial(), {}, {3, 4, 5});
  const std::vector<double> x(60, 1.0);
  halo.start(x.data());
  EXPECT_TRUE(halo.arrived());
  EXPECT_TRUE(halo.finish().empty());
  EXPECT_EQ(halo.index(-1, 0, 0), -1);
}

TEST(BoxHalo, ManyUnderWayAtOnce) {
  run_ranks(4, [](const Communicator& ranks) {
    const ProcessGrid processes{{2, 2, 1}};
    std::vector<BoxHalo> halos;
    std::vector<std::vector<double>> x;
    for (int level = 0; level < 4; ++level) {
      const int n = 8 >> level;
      halos.emplace_back(ranks, processes, std::array{n, n, n});
      x.emplace_back(static_cast<std::size_t>(n * n * n), 100.0 * level + ranks.rank());
    }
    for (std::size_t level = 0; level < 4; ++level) halos[level].start(x[level].data());
    for (std::size_t level = 4; level-- > 0;) {
      const auto values = halos[level].finish();
      const int other = halos[level].neighbour(ranks.rank() % 2 == 0 ? 1 : -1, 0, 0);
      const auto index = halos[level].index(ranks.rank() % 2 == 0 ? 8 >> level : -1, 0, 0);
      EXPECT_EQ(values[static_cast<std::size_t>(index)], 100.0 * static_cast<double>(level) + other);
    }
  });
}

TEST(BoxHalo, RefusesShapesThatDoNotFit) {
  EXPECT_ERROR(BoxHalo(serial(), {{2, 1, 1}}, {3, 3, 3}), bad_argument, "2x1x1 processes for 1 ranks");
  EXPECT_ERROR(BoxHalo(serial(), {{-1, -1, 1}}, {3, 3, 3}), bad_argument, "processes for 1 ranks");
  EXPECT_ERROR(BoxHalo(serial(), {}, {3, 0, 3}), bad_argument, "a box of 3x0x3 points");
}

}  // namespace
}  // namespace echelon
