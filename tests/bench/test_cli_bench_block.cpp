// SPDX-License-Identifier: BSD-3-Clause
// echelon bench block --backend cuda: its matrices are what their names say, in every process the same; what is refused; how
// a report reads; with a GPU every case has its rows and the contenders their answers.
#include <fmt/format.h>

#include <map>
#include <set>

#include "bench/measure/block_matrix.hpp"
#include "bench/program/bench_cuda_block_text.hpp"
#include "bench/program/bench_text.hpp"
#include "echelon/base/device.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/cli/program.hpp"
#include "tests/expect_error.hpp"

namespace echelon::test {
namespace {

using bench::BenchCase;
using bench::block_matrix;

class BenchBlock : public Program {};

BenchCase generated(const std::string& problem, const std::string& stencil, const std::string& numbering, int dof) {
  BenchCase one;
  one.kind = "block";
  one.problem = problem;
  one.stencil = stencil;
  one.numbering = numbering;
  one.grid = {6, 5, 4};
  one.dof = dof;
  return one;
}

BenchCase told(const BenchCase& one) {
  auto words = one.arguments();
  words.insert(words.begin(), "program");
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  return BenchCase::from_arguments("block", static_cast<int>(list.size()), list.data());
}

TEST(BlockMatrix, InNaturalOrderItIsTheStencilsOwn) {
  for (const char* stencil : {"star7", "box27"}) {
    for (const int dof : {1, 3}) {
      const auto one = generated("random", stencil, "natural", dof);
      const auto A = block_matrix(one);
      const auto expected = to_block_csr(problems::random(one.grid, stencils::named(stencil), dof, BenchCase::seed));
      ASSERT_TRUE(std::ranges::equal(A.row_start(), expected.row_start()));
      ASSERT_TRUE(std::ranges::equal(A.column(), expected.column()));
      EXPECT_TRUE(std::ranges::equal(A.values(), expected.values()));
    }
  }
}

/// The diagonal of a row is drawn with it, so it tells whose row it is.
TEST(BlockMatrix, AnotherNumberingIsAPermutation) {
  const auto natural = block_matrix(generated("random", "star7", "natural", 2));
  for (const char* numbering : {"random", "rcm"}) {
    const auto A = block_matrix(generated("random", "star7", numbering, 2));
    std::map<double, std::int32_t> row_of;
    for (std::int64_t i = 0; i < natural.block_rows(); ++i) row_of[natural.at(2 * i, 2 * i)] = static_cast<std::int32_t>(i);
    std::vector<std::int32_t> order;
    for (std::int64_t i = 0; i < A.block_rows(); ++i) order.push_back(row_of.at(A.at(2 * i, 2 * i)));
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), order.size());
    EXPECT_FALSE(std::ranges::is_sorted(order));
    const auto expected = permuted<double>(natural, order);
    ASSERT_TRUE(std::ranges::equal(A.column(), expected.column())) << numbering;
    EXPECT_TRUE(std::ranges::equal(A.values(), expected.values())) << numbering;
  }
}

TEST(BlockMatrix, AMeshIsSymmetricInItsPatternAndIrregular) {
  const auto A = block_matrix(generated("mesh", "box27", "natural", 1));
  std::set<std::int64_t> lengths;
  std::int64_t inner_entries = 0;
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    lengths.insert(A.row_start()[i + 1] - A.row_start()[i]);
    for (std::int64_t n = A.row_start()[i]; n < A.row_start()[i + 1]; ++n) {
      EXPECT_NE(A.at(A.column()[n], i), 0) << i << " " << A.column()[n];
      ++inner_entries;
    }
  }
  EXPECT_GE(lengths.size(), 6u);
  EXPECT_GT(inner_entries, 5 * A.block_rows());
  EXPECT_LT(inner_entries, 20 * A.block_rows());
}

TEST(BlockMatrix, CasesAreToldApartAndToldOn) {
  for (const bool small : {false, true}) {
    std::set<std::string> names;
    for (const auto& one : bench::block_shapes(small)) {
      EXPECT_TRUE(names.insert(one.name()).second) << one.name();
      EXPECT_EQ(told(one).name(), one.name());
      if (small) continue;
      EXPECT_GE(one.grid.points(), 100'000) << one.name();
      EXPECT_LE(one.grid.points(), 2'100'000) << one.name();
    }
  }
}

TEST_F(BenchBlock, FilesAreTakenAsScalarsAndInTheirBlocks) {
  // Two points with three unknowns each, all coupled; the first diagonal value is missing.
  std::string full = "%%MatrixMarket matrix coordinate real general\n6 6 35\n";
  for (int i = 1; i <= 6; ++i) {
    for (int j = 1; j <= 6; ++j) {
      if (i > 1 || j > 1) full += fmt::format("{} {} {}\n", i, j, i - 2 * j);
    }
  }
  write("full.mtx", full);
  write("full_rhs.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n");
  write("notes.txt", "no matrix");
  const auto cases = bench::block_files(folder_.string());
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].name(), "matrix full b=1");
  EXPECT_EQ(cases[1].name(), "matrix full b=3");
  for (const auto& one : cases) {
    const auto A = block_matrix(told(one));
    EXPECT_EQ(A.rows(), 6);
    EXPECT_EQ(A.block(), one.dof);
    for (std::int64_t i = 0; i < 6; ++i) {
      double others = 0;
      for (std::int64_t j = 0; j < 6; ++j) others += j == i ? 0 : std::abs(A.at(i, j));
      EXPECT_GE(A.at(i, i), 2 * others);
      EXPECT_EQ(A.at(i, (i + 1) % 6), static_cast<double>(i + 1 - 2 * ((i + 1) % 6 + 1)));
    }
  }
  EXPECT_EQ(bench::block_files(folder_.string(), 35).size(), 2u);
  EXPECT_EQ(bench::block_files(folder_.string(), 36).size(), 0u);
  EXPECT_ERROR(bench::block_files(file("nowhere")), file_missing, "no folder");
}

TEST_F(BenchBlock, WhatIsWrongIsSaid) {
  struct Refused {
    const char* line;
    const char* says;
  };
  for (const auto& [line, says] :
       {Refused{"bench block", "block needs --backend cuda"},
        Refused{"bench trsv --matrices .", "--matrices is for block and matrices"},
        Refused{"bench block --backend cuda --column a100", "is for trsv and factor"},
        Refused{"bench block --backend cuda --matrices nowhere", "nowhere"}, Refused{"bench blok", "did you mean block?"}}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_TRUE(contains(result.err, says)) << line << ": " << result.err;
  }
}

TEST_F(BenchBlock, OnAGpuEveryCaseHasItsRows) {
  if (Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto result = run("bench block --backend cuda --small --json r.json --plot r.svg");
  EXPECT_EQ(result.status, 0) << result.err << result.out;
  std::map<std::string, std::set<std::string>> rows;
  const auto report = json("r.json");
  const bool compared = report["contenders"]["missing"].empty();
  for (const auto& row : report["cases"]) {
    const auto operation = row["operation"].get<std::string>();
    EXPECT_TRUE(rows[row["case"].get<std::string>()].insert(operation).second);
    if (compared && operation.find("own rcm") == std::string::npos) {
      EXPECT_EQ(row["peers"].size(), row["dof"] == 1 ? 2u : 3u) << row.dump();
    }
  }
  for (const auto& one : bench::block_shapes(true)) {
    EXPECT_EQ(rows[one.name()].size(), one.numbering == "rcm" ? 18u : 24u) << one.name();
  }
  EXPECT_TRUE(contains(text("r.svg"), "mesh rcm"));
}

BenchReport four_rows() {
  BenchReport report;
  report.kind = "block";
  report.backend.kind = "cuda";
  report.backend.name = "a GPU";
  report.rounds = 3;
  for (const bool real : {false, true}) {
    for (const char* operation : {"analysis", "ilu0 factorization", "lower sweep", "upper sweep"}) {
      BenchRow row;
      row.operation = operation;
      row.name = real ? "matrix sherman5 b=4" : "random star7 8x8x8 b=4 rcm";
      row.problem = real ? "matrix" : "random";
      row.stencil = real ? "" : "star7";
      row.dof = 4;
      row.n = 2048;
      row.schedule = "rows by depth";
      row.seconds = 1e-3;
      PeerTime peer;
      peer.name = "cuSPARSE 12";
      peer.method = "bsrilu02 + bsrsv2";
      peer.seconds = real ? 8e-3 : 2e-3;
      row.peers = {peer};
      report.rows.push_back(row);
    }
  }
  return report;
}

TEST(BenchBlockText, ALineAMatrixAndGeometricMeans) {
  const auto said = cli::bench_table(four_rows());
  for (const char* part : {"sherman5", "by depth", "2048", "2.00", "8.00", "4.00", "upper sweep"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  }
}

TEST(BenchBlockText, ACheckedFactorizationHasAColumnOfItsOwn) {
  BenchReport report = four_rows();
  BenchRow checked = report.rows[1];
  checked.operation += " beside a checked one of a copy";
  checked.seconds = 2.345e-3;
  report.rows.insert(report.rows.begin() + 2, checked);
  const auto said = cli::bench_table(report);
  const auto line = said.find("2.345"), next = said.find("1.000", line);
  const auto column = said.find("beside checked ms"), factor = said.find("factor ms");
  for (const auto at : {line, next, column, factor}) ASSERT_NE(at, std::string::npos) << said;
  // Both stay: the other one's 1.000 is in the column behind it.
  EXPECT_LT(column, factor);
  EXPECT_EQ(said.substr(line, next - line).find('\n'), std::string::npos) << said;
}

TEST(BenchBlockText, TheFirstFactorizationStandsBesideTheOthers) {
  BenchReport report = four_rows();
  BenchRow first = report.rows[1];
  first.operation = "ilu0 first factorization";
  first.seconds = 1.234e-3;
  report.rows.insert(report.rows.begin() + 1, first);
  const auto said = cli::bench_table(report);
  const auto column = said.find("first ms"), line = said.find("1.234");
  ASSERT_NE(column, std::string::npos) << said;
  ASSERT_NE(line, std::string::npos) << said;
  EXPECT_EQ(said.find("1.234", line + 1), std::string::npos) << "the other matrix has none\n" << said;
}

TEST(BenchBlockText, TheFigureHasAPanelAKindOfMatrix) {
  const auto plot = cli::block_figure(four_rows());
  ASSERT_EQ(plot.rows.size(), 4u);
  ASSERT_EQ(plot.rows[1].panels.size(), 2u);
  EXPECT_EQ(plot.rows[1].panels[0].title, "star7 rcm");
  EXPECT_EQ(plot.rows[1].panels[1].title, "real, geometric mean");
  EXPECT_DOUBLE_EQ(plot.rows[1].panels[1].groups.at(0).bars.at(0).value, 8);
  EXPECT_NE(cli::bench_svg(four_rows()).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace echelon::test
