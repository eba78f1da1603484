// SPDX-License-Identifier: BSD-3-Clause
// Tables, the progress line and the solution's hash.
#include <gtest/gtest.h>

#include "echelon/base/error.hpp"
#include "echelon/report/progress.hpp"
#include "echelon/report/solution_hash.hpp"
#include "echelon/report/table.hpp"

namespace echelon {
namespace {

TEST(Table, AlignsByCodePointsAndTrimsLines) {
  Table table({{"name", Table::Align::left}, {"n", Table::Align::right}, {"", Table::Align::left}});
  table.add({"a≤b", "7", "x"});
  table.add({"long name", "1234", ""});
  EXPECT_EQ(table.text(), "name          n\na≤b           7  x\nlong name  1234\n");
}

TEST(Table, RefusesRowsOfAnotherWidth) {
  Table table({{"a", Table::Align::left}});
  EXPECT_THROW(table.add({"1", "2"}), Error);
}

TEST(Progress, AtMostTenLinesASecond) {
  Progress progress(1e-8, 1000);
  int lines = 0;
  for (int i = 0; i < 1000; ++i) lines += progress.line(i, 1.0 / (i + 1), i * 0.001).has_value();
  EXPECT_GE(lines, 9);
  EXPECT_LE(lines, 10);
}

TEST(Progress, GuessesTheTimeLeftFromTheFall) {
  Progress progress(1e-8, 1000);
  progress.line(0, 1, 0);
  // Half of the decades in ten seconds: ten more.
  EXPECT_EQ(progress.line(100, 1e-4, 10).value(), "iteration 100  residual 1.00e-04  10 iterations/s  about 10 s left");
}

TEST(Progress, WithoutAFallTheIterationsLeftCount) {
  Progress progress(1e-8, 200);
  progress.line(0, 1, 0);
  EXPECT_NE(progress.line(100, 2, 100)->find("about 1 min 40 s left"), std::string::npos);
}

TEST(HumanSeconds, ReadsWell) {
  EXPECT_EQ(human_seconds(0.25), "0.2 s");
  EXPECT_EQ(human_seconds(42), "42 s");
  EXPECT_EQ(human_seconds(185), "3 min 05 s");
  EXPECT_EQ(human_seconds(7800), "2 h 10 min");
}

TEST(SolutionHash, IsFnv1aOfTheBytes) {
  EXPECT_EQ(solution_hash({}), "cbf29ce484222325");
  const double a[] = {1.0, 2.0}, b[] = {2.0, 1.0}, zero[] = {0.0}, minus_zero[] = {-0.0};
  EXPECT_NE(solution_hash(a), solution_hash(b));
  EXPECT_NE(solution_hash(zero), solution_hash(minus_zero));
  // Eight zero bytes: the offset basis times the prime to the eighth.
  EXPECT_EQ(solution_hash(zero), "a8c7f832281a39c5");
}

}  // namespace
}  // namespace echelon
