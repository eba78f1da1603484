// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>

#include "echelon/stencil/stencil.hpp"
#include "tests/expect_error.hpp"

namespace ec = echelon;
namespace {

TEST(Stencil, SortsAndAddsTheCentre) {
  const ec::Stencil s({{1, 0, 0}, {0, 0, -1}, {0, -1, 0}, {-1, 0, 0}}, "mine");
  ASSERT_EQ(s.size(), 5);
  EXPECT_EQ(s.offsets()[0], (ec::Offset{0, 0, -1}));
  EXPECT_EQ(s.offsets()[1], (ec::Offset{0, -1, 0}));
  EXPECT_EQ(s.offsets()[2], (ec::Offset{-1, 0, 0}));
  EXPECT_EQ(s.center(), 3);
  EXPECT_EQ(s.find({1, 0, 0}), 4);
  EXPECT_EQ(s.find({0, 1, 0}), -1);
  EXPECT_EQ(s.find({9, 9, 9}), -1);
  EXPECT_FALSE(s.symmetric());
  EXPECT_EQ(s.name(), "mine");
}

TEST(Stencil, OnlyTheCentre) {
  const ec::Stencil s({});
  EXPECT_EQ(s.size(), 1);
  EXPECT_EQ(s.center(), 0);
  EXPECT_TRUE(s.symmetric());
}

TEST(Stencil, BadInput) {
  EXPECT_ERROR(ec::Stencil({{1, 0, 0}, {1, 0, 0}}), duplicate_entry, "(1,0,0) twice");
  EXPECT_ERROR(ec::Stencil({{0, 0, 0}, {0, 0, 0}}), duplicate_entry, "(0,0,0) twice");
  EXPECT_ERROR(ec::Stencil({{0, 1 << 30, 0}}), bad_argument, "2^30");
  EXPECT_ERROR(ec::Stencil({{0, 0, -2147483647 - 1}}), bad_argument, "2^30");
}

TEST(Stencils, NamesSizesAndSymmetry) {
  const std::pair<const char*, int> expected[] = {{"star5", 5},   {"star9", 9},      {"box9", 9},       {"star7", 7},
                                                  {"star13", 13}, {"diamond13", 13}, {"diamond25", 25}, {"box27", 27}};
  EXPECT_EQ(ec::stencils::names().size(), std::size(expected));
  for (const auto& [name, size] : expected) {
    const auto s = ec::stencils::named(name);
    EXPECT_EQ(s.size(), size) << name;
    EXPECT_EQ(s.name(), name);
    EXPECT_EQ(s.center(), size / 2) << name;
    EXPECT_TRUE(s.symmetric()) << name;
  }
  EXPECT_ERROR((void)ec::stencils::named("star6"), bad_argument, "known are star5, star9, box9");
}

TEST(Stencils, Shapes) {
  const auto star9 = ec::stencils::star9(), diamond25 = ec::stencils::diamond25(), diamond13 = ec::stencils::diamond13();
  for (const ec::Offset& o : star9.offsets()) EXPECT_EQ(o.z, 0);
  for (const ec::Offset& o : diamond25.offsets()) EXPECT_LE(std::abs(o.x) + std::abs(o.y) + std::abs(o.z), 2);
  for (const ec::Offset& o : diamond13.offsets()) {
    EXPECT_TRUE(ec::stencils::star7().find(o) >= 0 || o.x + o.y + o.z == 0);
  }
  EXPECT_GE(ec::stencils::diamond13().find({1, -1, 0}), 0);
  EXPECT_EQ(ec::stencils::diamond13().find({1, 1, 0}), -1);
}

TEST(Grid, IndexRunsAlongXFirst) {
  const ec::Grid g{4, 3, 2};
  EXPECT_EQ(g.points(), 24);
  EXPECT_EQ(g.index(1, 0, 0), 1);
  EXPECT_EQ(g.index(0, 1, 0), 4);
  EXPECT_EQ(g.index(0, 0, 1), 12);
  EXPECT_TRUE(g.contains(3, 2, 1));
  EXPECT_FALSE(g.contains(4, 0, 0));
  EXPECT_FALSE(g.contains(0, -1, 0));
}

}  // namespace
