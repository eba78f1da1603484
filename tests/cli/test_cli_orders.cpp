// SPDX-License-Identifier: BSD-3-Clause
// `solve` with block multicolour order and with symmetric Gauss-Seidel on what is small, thin, holed or not a number, and
// options out of range: solved, or refused in words.
#include <cmath>
#include <vector>

#include "echelon/io/matrix_market.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class Orders : public Program {
 protected:
  /// Runs `solve`, which must converge; the report.
  nlohmann::json solved(const std::string& line) const {
    const auto result = run("solve " + line + " --json report.json");
    EXPECT_EQ(result.status, 0) << line << "\n" << result.err << result.out;
    auto report = json("report.json");
    EXPECT_EQ(report["converged"], true) << line;
    EXPECT_LE(report["relative_residual"].get<double>(), 1e-8) << line;
    return report;
  }
  void refused(const std::string& line, int status, const std::string& sentence) const {
    const auto result = run("solve " + line);
    EXPECT_EQ(result.status, status) << line << "\n" << result.out;
    EXPECT_TRUE(contains(result.err, sentence)) << line << "\n" << result.err;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  }
};

/// Three rows, coupled along a line, and what stands on the second place of the diagonal.
std::string line_of_three(const std::string& middle) {
  const std::string entries = "1 1 4\n3 3 4\n1 2 1\n2 1 1\n2 3 1\n3 2 1\n";
  return "%%MatrixMarket matrix coordinate real general\n3 3 " + std::string(middle.empty() ? "6\n" : "7\n") + entries +
         (middle.empty() ? "" : "2 2 " + middle + "\n");
}

TEST_F(Orders, WhatIsNoNumberIsRefusedOrNamed) {
  write("A.mtx", line_of_three("nan"));
  for (const std::string pc : {"dbsr", "sgs"}) {
    refused("--matrix A.mtx --pc " + pc, 2, "1 value is not finite as a double: 'nan' at (2, 2)");
    const auto studied = run("solve --matrix A.mtx --allow-nonfinite --json r.json --pc " + pc);
    EXPECT_EQ(studied.status, 1);
    EXPECT_TRUE(contains(studied.out, "the matrix holds NaN or Inf, first met at row 2")) << studied.out;
    EXPECT_TRUE(contains(studied.out, "correct what is no number in the matrix: echelon check names it")) << studied.out;
    EXPECT_FALSE(contains(studied.out, "--shift")) << "no shift makes it a number: " << studied.out;
    EXPECT_EQ(json("r.json")["reason"], "pc_failed");
    EXPECT_EQ(json("r.json")["preconditioner"]["bad_pivots"][0]["kind"], "nonfinite_input");
  }
}

TEST_F(Orders, ADiagonalThatIsMissingOrZeroIsSaid) {
  for (const std::string middle : {"", "0"}) {
    write("A.mtx", line_of_three(middle));
    for (const std::string pc : {"dbsr", "sgs"}) {
      SCOPED_TRACE(pc + (middle.empty() ? ", missing" : ", zero"));
      const auto report = solved("--matrix A.mtx --pc " + pc);
      EXPECT_EQ(report["preconditioner"]["missing_diagonals"], middle.empty() ? 1 : 0);
      const auto remarks = report["preconditioner"]["remarks"].dump();
      EXPECT_EQ(contains(remarks, "1 diagonal entries were missing and inserted as zero"), middle.empty()) << remarks;
      const auto strict = run("solve --strict --matrix A.mtx --pc " + pc);
      EXPECT_EQ(strict.status, middle.empty() || pc == "sgs" ? 2 : 0) << "elimination fills a zero, the diagonal stays one";
    }
    // Gauss-Seidel divides by A's own diagonal.
    const auto unrepaired = run("solve --shift none --pc sgs --matrix A.mtx");
    EXPECT_EQ(unrepaired.status, 1);
    EXPECT_TRUE(contains(unrepaired.out, "SSOR(1): zero pivot at row 2")) << unrepaired.out;
  }
  // Here the zero is met first.
  write("B.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 0\n1 2 1\n2 1 1\n2 2 1\n");
  const auto unrepaired = run("solve --shift none --pc dbsr --matrix B.mtx");
  EXPECT_EQ(unrepaired.status, 1);
  EXPECT_TRUE(contains(unrepaired.out, "ILU(0): zero pivot at row 1")) << unrepaired.out;
  refused("--strict --pc dbsr --matrix B.mtx", 2, "zero pivot at row 1");
}

TEST_F(Orders, GridsSmallerThanABlockThinAndFlat) {
  for (const std::string grid : {"1", "2x1x1", "3x1", "1x7", "2", "1x1x100", "100x1x1", "1x100x1", "64x2", "2x64", "64x1x3",
                                 "5x4x1", "1x5x4", "67x3x2"}) {
    SCOPED_TRACE(grid);
    solved("--grid " + grid + " --pc sgs");
    const auto first = solved("--grid " + grid + " --pc dbsr --bsize 1");
    for (const std::string bsize : {"auto", "8", "64"}) {
      const auto report = solved("--grid " + grid + " --pc dbsr --bsize " + bsize);
      EXPECT_EQ(report["iterations"], first["iterations"]) << bsize;
    }
  }
}

/// A block as large as the grid is natural order, one colour of it, whatever the lanes.
TEST_F(Orders, OneBlockIsTheNaturalOrder) {
  const auto natural = solved("--grid 9x8x7 --pc ic");
  for (const std::string options : {"--bsize 1", "--bsize 64", ""}) {
    const auto report = solved("--grid 9x8x7 --pc dbsr --blocks 100x100x100 " + options);
    EXPECT_EQ(report["preconditioner"]["colours"], 1);
    EXPECT_EQ(report["iterations"], natural["iterations"]) << options;
    EXPECT_TRUE(contains(report["preconditioner"]["ordering"], "9x8x7 a block")) << report["preconditioner"]["ordering"];
  }
  write_matrix_market(file("A.mtx"), to_block_csr(problems::poisson({9, 8, 7}, stencils::star7())));
  const auto rows = solved("--matrix A.mtx --pc dbsr --blocks 1000000x1000000x1000000");
  EXPECT_TRUE(contains(rows["preconditioner"]["ordering"], "504 rows a block")) << rows["preconditioner"]["ordering"];
}

TEST_F(Orders, RowsWithoutNeighboursAreOneColour) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n40 40 40\n";
  for (int i = 1; i <= 40; ++i) text += std::to_string(i) + " " + std::to_string(i) + " " + std::to_string(i) + "\n";
  write("A.mtx", text);
  for (const std::string options : {"sgs", "dbsr", "dbsr --bsize 64", "dbsr --blocks 1x1x1 --bsize 32"}) {
    EXPECT_EQ(solved("--matrix A.mtx --pc " + options)["iterations"], 1) << options;
  }
}

/// A row as long as the matrix: no time that grows with its square, and a sentence where it is too long.
TEST_F(Orders, OneRowThatHasThemAll) {
  for (const int n : {5000, 300'000}) {
    std::string text = "%%MatrixMarket matrix coordinate real general\n";
    text += std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(3 * n - 2) + "\n1 1 " + std::to_string(n) + "\n";
    for (int i = 2; i <= n; ++i) {
      const auto row = std::to_string(i);
      text += row + " " + row + " 4\n1 " + row + " -1\n" + row + " 1 -1\n";
    }
    write("A.mtx", text);
    if (n < 32767) {
      solved("--matrix A.mtx --pc dbsr");
    } else {
      const auto long_row = run("solve --matrix A.mtx --pc dbsr", "ulimit -t 20;");
      EXPECT_EQ(long_row.status, 2) << long_row.err;
      EXPECT_TRUE(contains(long_row.err, "the block row of row 1 has 300000 blocks, at most 32767 can be factored")) << long_row.err;
    }
  }
}

TEST_F(Orders, LanesWithoutBlocksThatWillNotFit) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer takes memory of its own";
  const std::string line = "solve --grid 50 --pc dbsr --blocks 50x50x50 --bsize ";
  EXPECT_EQ(run(line + "1", "ulimit -v 400000;").status, 0);
  const auto result = run(line + "64", "ulimit -v 400000;");
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(contains(result.err, "a matrix in diagonal block rows of 64 needs ")) << result.err;
}

TEST_F(Orders, OptionsOutOfRangeAreRefused) {
  write("A.mtx", small_matrix);
  for (const std::string system : {"--grid 6", "--matrix A.mtx"}) {
    for (const std::string bad : {"0", "3", "128", "-1", "x", "1e1", "8.0"}) {
      refused(system + " --pc dbsr --bsize " + bad, 2, "--bsize: got '" + bad + "'");
    }
    for (const std::string bad : {"0x1x1", "4x4x4x4", "4x", "x4", "huge", "1e3x2x2", "4,4,4", "99999999999999999999x1x1",
                                  "1000001x1x1"}) {
      refused(system + " --pc dbsr --blocks " + bad, 2,
              "--blocks: got '" + bad + "', needs fixed, auto or the sides of a block: 8x8, 4x4x4");
    }
    refused(system + " --pc sgs --blocks auto", 2, "--blocks is for --pc dbsr; got --pc sgs");
    refused(system + " --pc sgs --bsize 8", 2, "--bsize is for --pc dbsr; got --pc sgs");
    refused(system + " --pc sgs --omega 2", 2, "--omega");
    refused(system + " --pc sgs --omega nan", 2, "--omega");
    refused(system + " --pc dbsr --omega 1", 2, "--omega is for --pc sgs; got --pc dbsr");
  }
  EXPECT_TRUE(contains(run("solve --grid 6 --pc sgs").out, "cg with sgs(1)")) << "its relaxation where none is given";
}

}  // namespace
}  // namespace echelon::test
