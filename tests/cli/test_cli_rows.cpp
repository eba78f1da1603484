// SPDX-License-Identifier: BSD-3-Clause
// Every row that the program names is counted as in the file: repairs that --strict forbids, thrown errors, reports.
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class Rows : public Program {};

/// The first pivot is zero.
const char* zero_pivot = "%%MatrixMarket matrix coordinate real general\n3 3 6\n1 1 0\n1 2 1\n2 1 1\n2 2 1\n3 3 2\n2 3 1\n";

TEST_F(Rows, StrictNamesTheRowOfTheFile) {
  write("A.mtx", zero_pivot);
  const auto result = run("solve --matrix A.mtx --pc ilu --strict --json r.json");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "zero pivot at row 1 ")) << result.err;
  EXPECT_TRUE(contains(json("r.json")["error"]["message"].get<std::string>(), "zero pivot at row 1 "));
}

TEST_F(Rows, AFailedSetUpAndTheReportAgree) {
  write("A.mtx", zero_pivot);
  const auto result = run("solve --matrix A.mtx --pc ilu --shift none --json r.json");
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.out, "zero pivot at row 1 (value 0")) << result.out;
  const auto report = json("r.json");
  EXPECT_EQ(report["preconditioner"]["bad_pivots"][0]["row"], 1);
  EXPECT_TRUE(contains(report["message"].get<std::string>(), "at row 1 ")) << report["message"];
  EXPECT_TRUE(contains(report["choice"]["attempts"][0]["message"].get<std::string>(), "at row 1 "))
      << report["choice"]["attempts"][0];
}

TEST_F(Rows, AThrownErrorNamesTheEntryOfTheFile) {
  write("A.mtx", small_matrix);
  write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\nnan\n");
  const auto result = run("solve --matrix A.mtx --rhs b.mtx --allow-nonfinite");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "element 2 is nan")) << result.err;
}

TEST_F(Rows, RowsWithoutAPartnerAreThoseOfTheFile) {
  // With the null space given the structure is not looked at before the rows are matched.
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n1 2 -1\n2 1 -1\n2 2 1\n");
  write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n-1\n0\n");
  const auto result = run("solve --matrix A.mtx --rhs b.mtx --null-space constant --pc ilu --match-rows");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "the first is row 3")) << result.err;
}

TEST_F(Rows, ANullVectorThatIsNoneIsRefusedByTheRowOfTheFile) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 -1\n2 1 -1\n2 2 1.5\n");
  const auto result = run("solve --matrix A.mtx --null-space constant");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "in row 2 ")) << result.err;
}

}  // namespace
}  // namespace echelon::test
