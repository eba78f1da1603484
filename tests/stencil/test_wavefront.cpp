// SPDX-License-Identifier: BSD-3-Clause
// The integer shear: the known levels of the named stencils, and for thousands of random ones that every dependency comes
// earlier, that none points forward after the map, and that the map can be undone.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "echelon/stencil/wavefront.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

struct Known {
  const char* name;
  int of_j, of_k, levels_n, levels_less;  // level = i + of_j·j + of_k·k, levels_n·N − levels_less levels on N³ (N²)
  bool flat;
};
constexpr Known known[] = {{"star7", 1, 1, 3, 2, false},     {"star13", 1, 1, 3, 2, false}, {"diamond13", 2, 3, 6, 5, false},
                           {"diamond25", 2, 3, 6, 5, false}, {"box27", 2, 4, 7, 6, false},  {"star5", 1, 1, 2, 1, true},
                           {"star9", 1, 1, 2, 1, true},      {"box9", 2, 1, 3, 2, true}};

TEST(Wavefront, LevelsOfTheNamedStencils) {
  for (const auto& s : known) {
    for (const int n : {5, 32, 512}) {
      const Grid grid{n, n, s.flat ? 1 : n};
      for (const auto triangle : {Triangle::lower, Triangle::upper}) {
        const Wavefront front = wavefront(grid, stencils::named(s.name), triangle);
        EXPECT_EQ(front.levels(), s.levels_n * n - s.levels_less) << s.name << ' ' << n;
        const Ijk p{4, 2, s.flat ? 0 : 3};
        EXPECT_EQ(front.level(front.turn(p)), p.i + s.of_j * p.j + s.of_k * p.k) << s.name;
      }
    }
  }
  const Wavefront box = wavefront({9, 9, 9}, stencils::box27());
  EXPECT_EQ(box.a, 1);
  EXPECT_EQ(box.b, 2);
  EXPECT_EQ(box.c, 1);
}

TEST(Wavefront, TheUpperTriangleStartsAtTheFarCorner) {
  const Wavefront front = wavefront({4, 3, 2}, stencils::box27(), Triangle::upper);
  EXPECT_EQ(front.level({3, 2, 1}), 0);
  EXPECT_EQ(front.level({2, 2, 1}), 1);
  EXPECT_EQ(front.level({0, 0, 0}), front.levels() - 1);
}

TEST(Wavefront, ThinGridsIgnoreWhatReachesNoPoint) {
  EXPECT_EQ(wavefront({7, 1, 1}, stencils::box27()).levels(), 7);
  EXPECT_EQ(wavefront({7, 5, 1}, stencils::box27()).levels(), 7 + 2 * 4);
  EXPECT_EQ(wavefront({1, 5, 6}, stencils::box27()).levels(), 5 + 2 * 5);
  EXPECT_EQ(wavefront({2, 2, 2}, Stencil({{-2, 0, 0}, {0, 5, -1}})).levels(), 4);
  EXPECT_EQ(wavefront({3, 1, 1}, Stencil({})).levels(), 3);
}

TEST(Wavefront, BadInput) {
  EXPECT_ERROR((void)wavefront({4, 0, 1}, stencils::star5()), bad_argument, "4x0x1");
  EXPECT_ERROR((void)wavefront({1 << 30, 1, 1}, stencils::star5()), bad_argument, "levels");
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_ERROR((void)wavefront({huge, huge, huge}, Stencil({{1 << 29, 1 << 29, -1}, {1 << 29, -1, 0}})), bad_argument,
               "levels");
}

/// Everything the shear promises, on one grid.
void expect_promises(const Grid& grid, const Stencil& stencil, Triangle triangle) {
  const Wavefront front = wavefront(grid, stencil, triangle);
  const auto needs = dependencies(front, stencil);
  for (const Dependency& d : needs) {
    ASSERT_LT(d.level, 0);
    ASSERT_LE(d.skewed.x, 0);
    ASSERT_LE(d.skewed.y, 0);
    ASSERT_LE(d.skewed.z, 0);
  }
  std::set<std::tuple<int, int, int>> image;
  std::size_t met = 0;
  for (int k = 0; k < front.nz; ++k) {
    for (int j = 0; j < front.ny; ++j) {
      for (int i = 0; i < front.nx; ++i) {
        const Ijk p{i, j, k};
        const SkewedPoint s = front.map(p);
        const int level = front.level(p);
        ASSERT_TRUE(level >= 0 && level < front.levels());
        ASSERT_TRUE(front.has_line(s.y, s.z) && s.y < front.rows_y());
        const Ijk back = front.unmap(s), walked = front.on_line(s.y, s.z, level);
        ASSERT_TRUE(back.i == i && back.j == j && back.k == k);
        ASSERT_TRUE(walked.i == i && walked.j == j && walked.k == k);
        ASSERT_TRUE(image.insert({s.x, s.y, s.z}).second);
        for (int e = 0; e < stencil.size(); ++e) {
          const Offset o = stencil.offsets()[e];
          const bool wanted = triangle == Triangle::lower ? e < stencil.center() : e > stencil.center();
          if (!wanted || !grid.contains(i + o.x, j + o.y, k + o.z)) continue;
          const Ijk q{i + o.x, j + o.y, k + o.z};
          const SkewedPoint t = front.map(q);
          const auto d = std::find_if(needs.begin(), needs.end(), [&](const Dependency& one) { return one.entry == e; });
          ASSERT_NE(d, needs.end());
          ASSERT_EQ((Offset{t.x - s.x, t.y - s.y, t.z - s.z}), d->skewed);
          ASSERT_EQ(front.level(q) - level, d->level);
          ++met;
        }
      }
    }
  }
  if (needs.empty()) {
    ASSERT_EQ(met, 0u);
  } else {
    ASSERT_GE(met, needs.size());
  }
}

TEST(Wavefront, RandomStencilsOnSmallGrids) {
  std::mt19937_64 random(20250608);
  for (int trial = 0; trial < 4000; ++trial) {
    const bool flat = random() % 3 == 0;
    const Stencil stencil = reference::random_stencil(random, 14, 4, flat);
    const Grid grid = reference::random_grid(random, 7, flat);
    SCOPED_TRACE(testing::Message() << "trial " << trial);
    ASSERT_NO_FATAL_FAILURE(expect_promises(grid, stencil, random() % 2 == 0 ? Triangle::lower : Triangle::upper));
  }
}

TEST(Wavefront, RandomStencilsAllOfWhosePointsCount) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 20000; ++trial) {
    const bool flat = random() % 3 == 0;
    const Stencil stencil = reference::random_stencil(random, 40, 4, flat);
    const Triangle triangle = random() % 2 == 0 ? Triangle::lower : Triangle::upper;
    const Wavefront front = wavefront({50, 60, 70}, stencil, triangle);
    const auto needs = dependencies(front, stencil);
    ASSERT_EQ(needs.size(), static_cast<std::size_t>(triangle == Triangle::lower ? stencil.center()
                                                                                 : stencil.size() - stencil.center() - 1));
    bool a_is_least = front.a == 0, b_is_least = front.b == 0, c_is_least = front.c == 0;
    for (const Dependency& d : needs) {
      ASSERT_LT(d.level, 0);
      ASSERT_TRUE(d.skewed.z < 0 ? d.skewed.x <= 0 && d.skewed.y <= 0 : d.skewed.x <= 0) << "trial " << trial;
      // One less in any coefficient and some point would be ahead.
      a_is_least = a_is_least || (d.skewed.z == 0 && d.skewed.x - d.skewed.y > 0);
      b_is_least = b_is_least || (d.skewed.z < 0 && d.skewed.x - d.skewed.z > 0);
      c_is_least = c_is_least || (d.skewed.z < 0 && d.skewed.y - d.skewed.z > 0);
    }
    ASSERT_TRUE(a_is_least && b_is_least && c_is_least) << "trial " << trial;
  }
}

}  // namespace
}  // namespace echelon
