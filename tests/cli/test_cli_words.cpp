// SPDX-License-Identifier: BSD-3-Clause
// Grids, numbers and words as options, and the nearest known word.
#include <gtest/gtest.h>

#include <limits>

#include "cli/grid_text.hpp"
#include "cli/line/nearest.hpp"
#include "cli/line/option_checks.hpp"
#include "echelon/base/error.hpp"
#include "echelon/precond/ilu/ilu_option_list.hpp"

namespace echelon::cli {
namespace {

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("grid", "gird"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Nearest, SuggestsOnlyWhatIsNear) {
  EXPECT_EQ(nearest("--maxit", {"--matrix", "--max-it", "--rtol"}), "--max-it");
  EXPECT_EQ(nearest("--zzzzzzzz", {"--matrix", "--max-it", "--rtol"}), "");
  EXPECT_EQ(suggestion("gmre", {"cg", "gmres"}), " (did you mean gmres?)");
}

TEST(GridText, TheThreeForms) {
  EXPECT_EQ(parse_grid("8", stencils::star7()), (Grid{8, 8, 8}));
  EXPECT_EQ(parse_grid("8", stencils::box9()), (Grid{8, 8, 1}));
  EXPECT_EQ(parse_grid("8x4", stencils::star7()), (Grid{8, 4, 1}));
  EXPECT_EQ(parse_grid("8x4x2", stencils::star7()), (Grid{8, 4, 2}));
  EXPECT_EQ(grid_extents("3x4"), 2);
}

TEST(GridText, RefusesEverythingElse) {
  for (const char* text : {"", "0", "-3", "x", "8x", "8xx8", "8x8x8x8", "8 x 8", "8.5", "99999999999999999999", "8X8"}) {
    EXPECT_THROW(parse_grid(text, stencils::star7()), Error) << text;
  }
}

TEST(OptionChecks, NumbersAndWords) {
  EXPECT_EQ(check_number("1e-8", 0, 1), "");
  for (const char* text : {"nan", "inf", "1e-8x", "", "2", "-1"}) EXPECT_NE(check_number(text, 0, 1), "") << text;
  EXPECT_NE(check_number("inf", 0, std::numeric_limits<double>::infinity()), "");
  EXPECT_EQ(check_integer("10", 0, 10), "");
  for (const char* text : {"11", "1e1", "3.0", "", "99999999999999999999"})
    EXPECT_NE(check_integer(text, 0, 10), "") << text;
  EXPECT_EQ(check_word("ilu", {"ilu"}), "");
  EXPECT_NE(check_word("amg", {"ilu"}, {"amg"}).find("does not have 'amg' yet; it has ilu"), std::string::npos);
  EXPECT_NE(check_word("ilo", {"ilu"}, {"amg"}).find("did you mean ilu?"), std::string::npos);
  IluOptions options;
  for (const char* text : {"none", "auto", "1e-3"}) EXPECT_EQ(set_shift(options, text), "") << text;
  for (const char* text : {"0", "-1", "nan", "yes"}) EXPECT_NE(set_shift(options, text), "") << text;
}

}  // namespace
}  // namespace echelon::cli
