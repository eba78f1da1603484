// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/matrix_check.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "echelon/base/error.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/counted_new.hpp"

namespace echelon {
namespace {

MatrixFile parsed(std::string_view text, bool allow_nonfinite = false) {
  ReadOptions options;
  options.allow_nonfinite = allow_nonfinite;
  return parse_matrix_market(text, "A.mtx", options);
}

/// A block matrix stored as scalars.
BlockCsr<double> as_scalars(const BlockCsr<double>& A) {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t r = 0; r < A.rows(); ++r) {
    for (std::int64_t c = 0; c < A.columns(); ++c) {
      if (A.at(r, c) != 0) triplets.push_back({static_cast<std::int32_t>(r), static_cast<std::int32_t>(c), A.at(r, c)});
    }
  }
  return from_triplets<double>(A.rows(), A.columns(), triplets);
}

TEST(StructuralRank, AFullDiagonalAnswersWithoutASearch) {
  auto A = to_block_csr(problems::convection_diffusion({12, 12, 12}, stencils::star7()));
  const long before = new_calls;
  require_structural_rank(A);
  EXPECT_EQ(new_calls, before) << "a search takes lists of all rows";
  for (auto e = A.row_start()[5]; e < A.row_start()[6]; ++e) {
    if (A.column()[e] == 5) A.values()[e] = 0;
  }
  require_structural_rank(A);  // another matching is there
  const auto none = parsed("%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 4\n2 2 5\n3 2 1\n3 3 0\n").matrix;
  EXPECT_THROW(require_structural_rank(none), Error);
}

TEST(BlockGuess, FindsTheBlocksOfACoupledProblem) {
  for (const int dof : {2, 3, 4, 5, 7}) {
    const auto A = as_scalars(to_block_csr(problems::random({4, 3, 2}, stencils::star7(), dof, 1)));
    double density = 0;
    EXPECT_EQ(guess_block_size(A, &density), dof);
    EXPECT_GT(density, 0.99);
  }
}

TEST(BlockGuess, SeesNoneInPoisson) {
  EXPECT_EQ(guess_block_size(to_block_csr(problems::poisson({6, 6, 6}, stencils::star7()))), 1);
}

TEST(CheckMatrix, StructurallySingularRowsAreNamedFromOne) {
  const auto file = parsed("%%MatrixMarket matrix coordinate real general\n4 4 4\n1 1 4\n2 2 5\n3 2 1\n4 2 1\n");
  const auto report = check_matrix(file, "A.mtx");
  EXPECT_FALSE(report.solvable);
  EXPECT_EQ(report.structural_rank, 2);
  EXPECT_EQ(report.unmatched_rows, (std::vector<std::int64_t>{3, 4}));
  EXPECT_NE(report.advice.front().find("rows 3, 4 cannot be matched with a column: structurally singular, rank n-2"),
            std::string::npos)
      << report.advice.front();
  EXPECT_EQ(report.empty_columns, 2);
  try {
    require_structural_rank(file.matrix);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::structure);
  }
}

TEST(CheckMatrix, ASoundMatrixGetsAMethod) {
  const auto report =
      check_matrix(parsed("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 1\n2 2 5\n"), "A.mtx");
  EXPECT_TRUE(report.solvable);
  EXPECT_TRUE(report.symmetric);
  EXPECT_NE(report.advice.back().find("--solver cg"), std::string::npos);
  EXPECT_GT(report.ilu0_bytes, 0);
}

TEST(CheckMatrix, NanIsPlaced) {
  const auto report =
      check_matrix(parsed("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n2 2 5\n2 1 inf\n", true), "A.mtx");
  EXPECT_FALSE(report.solvable);
  EXPECT_NE(report.advice.front().find("row 2, column 1"), std::string::npos) << report.advice.front();
}

TEST(CheckMatrix, DuplicatesWhoseSumIsInfiniteAreNotSolvable) {
  for (const char* symmetry : {"general", "symmetric"}) {
    const std::string text =
        std::string("%%MatrixMarket matrix coordinate real ") + symmetry + "\n2 2 4\n1 1 4\n2 1 1e308\n2 1 1e308\n2 2 5\n";
    const auto file = parsed(text, true);
    EXPECT_EQ(file.notes.nonfinite, 1) << symmetry;
    const auto report = check_matrix(file, "A.mtx");
    EXPECT_FALSE(report.solvable);
    EXPECT_GE(report.nonfinite, 1);
    EXPECT_NE(report.advice.front().find("NaN or infinite"), std::string::npos) << report.advice.front();
  }
}

TEST(CheckMatrix, TheSizeLineAloneCondemnsOnlyWhatIsLargeAndCannotBeSolved) {
  const auto sizes = [](std::int64_t rows, std::int64_t columns, std::int64_t entries, bool mirrored = false) {
    MatrixSizes s;
    s.name = "A.mtx", s.rows = rows, s.columns = columns, s.entries = entries;
    s.most_stored = mirrored ? 2 * entries : entries;
    return s;
  };
  EXPECT_TRUE(condemned_by_sizes(sizes(100'000, 100'000, 99'999)));
  EXPECT_FALSE(condemned_by_sizes(sizes(100'000, 100'000, 100'000)));
  EXPECT_FALSE(condemned_by_sizes(sizes(1000, 1000, 1))) << "small: its rows can be named";
  EXPECT_TRUE(condemned_by_sizes(sizes(100'000, 100'000, 49'999, true)));
  EXPECT_FALSE(condemned_by_sizes(sizes(100'000, 100'000, 50'000, true)));
  EXPECT_TRUE(condemned_by_sizes(sizes(100'000, 3, 1)));
  MatrixSizes array = sizes(100'000, 1, 100'000);
  array.coordinate = false;
  EXPECT_FALSE(condemned_by_sizes(array));
  EXPECT_NO_THROW(require_solvable_sizes(sizes(100'000, 100'000, 2), false));
}

TEST(CheckMatrix, RectangularIsSaid) {
  const auto file = parsed("%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 4\n");
  EXPECT_FALSE(check_matrix(file, "A.mtx").solvable);
  EXPECT_THROW(require_structural_rank(file.matrix), Error);
}

}  // namespace
}  // namespace echelon
