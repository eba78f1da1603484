// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "tests/expect_error.hpp"

namespace ec = echelon;
namespace {

using Csr = ec::BlockCsr<double>;
using Entries = std::vector<ec::Triplet<double>>;

Csr make(std::int64_t rows, std::int64_t columns, const Entries& entries, std::int64_t* duplicates = nullptr) {
  return ec::from_triplets<double>(rows, columns, entries, duplicates);
}

bool same(const Csr& A, const Csr& B) {
  return A.block_rows() == B.block_rows() && A.block_columns() == B.block_columns() && A.block() == B.block() &&
         std::ranges::equal(A.row_start(), B.row_start()) && std::ranges::equal(A.column(), B.column()) &&
         std::ranges::equal(A.values(), B.values());
}

Entries random_entries(int rows, int columns) {
  const auto count = *rc::gen::inRange(0, rows * columns + 5);
  Entries entries;
  for (int t = 0; t < count; ++t) {
    entries.push_back({*rc::gen::inRange(0, rows), *rc::gen::inRange(0, columns), *rc::gen::inRange(-64, 64) / 8.0});
  }
  return entries;
}

#define PROPERTY(what, ...) ASSERT_TRUE(rc::check(what, __VA_ARGS__))

TEST(FromTriplets, SortsAndSumsDuplicatesInTheOrderGiven) {
  std::int64_t duplicates = -1;
  // (0,1) comes as 1, 1e17, −1e17: summed in that order the 1 is lost; in another order it would not be.
  const auto A = make(2, 3, {{1, 2, 5}, {0, 1, 1}, {0, 0, 4}, {0, 1, 1e17}, {0, 1, -1e17}}, &duplicates);
  EXPECT_EQ(duplicates, 2);
  EXPECT_EQ(A.blocks(), 3);
  EXPECT_EQ(A.at(0, 0), 4);
  EXPECT_EQ(A.at(0, 1), 0);
  EXPECT_EQ(A.at(1, 2), 5);
}

TEST(FromTriplets, EmptyMatricesAndEmptyRows) {
  EXPECT_EQ(make(0, 0, {}).rows(), 0);
  EXPECT_EQ(make(3, 2, {}).blocks(), 0);
}

TEST(FromTriplets, HoldsTheSumOfWhatWasGiven) {
  PROPERTY("every element is the sum of its triplets", [] {
    const int rows = *rc::gen::inRange(1, 12), columns = *rc::gen::inRange(1, 12);
    const auto entries = random_entries(rows, columns);
    std::map<std::pair<int, int>, double> sums;
    for (const auto& e : entries) sums[{e.row, e.column}] += e.value;
    std::int64_t duplicates = 0;
    const auto A = make(rows, columns, entries, &duplicates);
    RC_ASSERT(A.blocks() == static_cast<std::int64_t>(sums.size()));
    RC_ASSERT(duplicates == static_cast<std::int64_t>(entries.size() - sums.size()));
    for (const auto& [place, sum] : sums) RC_ASSERT(A.at(place.first, place.second) == sum);
  });
}

TEST(FromTriplets, BadInput) {
  EXPECT_ERROR(make(2, 2, {{0, 0, 1}, {2, 0, 1}}), index_range, "triplet 1: entry (2, 0) is outside a matrix of 2 by 2");
  EXPECT_ERROR(make(2, 2, {{0, -1, 1}}), index_range, "(0, -1)");
  EXPECT_ERROR(make(-1, 2, {}), bad_argument, "-1 by 2");
  EXPECT_ERROR(make(1, std::int64_t{1} << 31, {}), bad_argument, "2147483647");
}

TEST(Reblock, ByHand) {
  // ⎡1 2 . .⎤
  // ⎢. 3 . .⎥  in blocks of two: (0,0), (1,1) and nothing else
  // ⎢. . . .⎥
  // ⎣. . 4 .⎦
  const auto A = make(4, 4, {{0, 0, 1}, {0, 1, 2}, {1, 1, 3}, {3, 2, 4}});
  const auto B = ec::reblock(A, 2);
  EXPECT_EQ(B.blocks(), 2);
  EXPECT_TRUE(std::ranges::equal(B.values(), std::vector<double>{1, 0, 2, 3, 0, 4, 0, 0}));
  EXPECT_EQ(ec::reblock(B, 2).blocks(), 2);
}

TEST(Reblock, KeepsEveryElementThroughEverySize) {
  PROPERTY("A = reblock(reblock(A, b), c) element by element", [] {
    const int b = *rc::gen::inRange(1, 12), c = *rc::gen::element(1, 2, 3, 4, 5);
    const int rows = b * c * *rc::gen::inRange(1, 3), columns = b * c * *rc::gen::inRange(1, 3);
    const auto A = make(rows, columns, random_entries(rows, std::min(columns, 12)));
    const auto B = ec::reblock(A, b);
    const auto C = ec::reblock(B, c);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        RC_ASSERT(B.at(i, j) == A.at(i, j));
        RC_ASSERT(C.at(i, j) == A.at(i, j));
      }
    }
  });
}

TEST(Reblock, BadInput) {
  const auto A = make(6, 4, {});
  EXPECT_ERROR((void)ec::reblock(A, 4), size_mismatch, "6 by 4 cannot be cut into blocks of 4");
  EXPECT_ERROR((void)ec::reblock(A, 0), bad_argument, "block size 0");
}

TEST(WithFullDiagonal, InsertsZerosWhereTheyAreMissing) {
  const auto A = make(4, 4, {{0, 1, 1}, {1, 1, 2}, {2, 0, 3}, {3, 0, 4}, {3, 1, 5}});
  ec::Array<std::int32_t> inserted;
  const auto B = ec::with_full_diagonal(A, &inserted);
  EXPECT_TRUE(std::ranges::equal(inserted.span(), std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(B.blocks(), 8);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) EXPECT_EQ(B.at(i, j), A.at(i, j));
  }
  ec::Array<std::int32_t> again{7};
  EXPECT_TRUE(same(ec::with_full_diagonal(B, &again), B));
  EXPECT_EQ(again.size(), 0);
}

TEST(WithFullDiagonal, NeedsASquareMatrix) {
  EXPECT_ERROR((void)ec::with_full_diagonal(make(2, 3, {})), not_square, "2 by 3");
}

TEST(Permuted, ByHand) {
  const auto A = make(3, 3, {{0, 0, 1}, {0, 2, 2}, {1, 1, 3}, {2, 0, 4}});
  const std::int32_t order[] = {2, 0, 1};  // new 0 is old 2
  const auto P = ec::permuted<double>(A, order);
  EXPECT_EQ(P.at(0, 1), 4);
  EXPECT_EQ(P.at(1, 1), 1);
  EXPECT_EQ(P.at(1, 0), 2);
  EXPECT_EQ(P.at(2, 2), 3);
  EXPECT_EQ(P.blocks(), 4);
}

TEST(Permuted, ThereAndBackIsTheSameMatrix) {
  PROPERTY("P'(P A P')P = A", [] {
    const int n = *rc::gen::inRange(1, 14), b = *rc::gen::inRange(1, 4);
    const auto A = ec::reblock(make(n * b, n * b, random_entries(n * b, n * b)), b);
    std::vector<std::int32_t> order(n), back(n);
    for (int i = 0; i < n; ++i) order[i] = i;
    for (int i = n - 1; i > 0; --i) std::swap(order[i], order[*rc::gen::inRange(0, i + 1)]);
    for (int i = 0; i < n; ++i) back[order[i]] = i;
    const auto P = ec::permuted<double>(A, order);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) RC_ASSERT(P.at(i * b, j * b) == A.at(order[i] * b, order[j] * b));
    }
    RC_ASSERT(same(ec::permuted<double>(P, back), A));
  });
}

TEST(Permuted, BadInput) {
  const auto A = make(2, 2, {{0, 0, 1}});
  EXPECT_ERROR((void)ec::permuted<double>(A, std::vector<std::int32_t>{0}), size_mismatch, "got 1 elements, expected 2");
  EXPECT_ERROR((void)ec::permuted<double>(A, std::vector<std::int32_t>{0, 2}), index_range, "contains 2");
  EXPECT_ERROR((void)ec::permuted<double>(A, std::vector<std::int32_t>{1, 1}), bad_argument,
               "row 1 stands at positions 0 and 1");
  EXPECT_ERROR((void)ec::permuted<double>(make(1, 2, {}), std::vector<std::int32_t>{0}), not_square, "1 by 2");
}

TEST(Transposed, SwapsRowsAndColumnsAndTwiceIsNothing) {
  PROPERTY("(A')_ij = A_ji, A'' = A", [] {
    const int b = *rc::gen::inRange(1, 5);
    const int rows = b * *rc::gen::inRange(1, 8), columns = b * *rc::gen::inRange(1, 8);
    const auto A = ec::reblock(make(rows, columns, random_entries(rows, columns)), b);
    const auto At = ec::transposed(A);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) RC_ASSERT(At.at(j, i) == A.at(i, j));
    }
    RC_ASSERT(same(ec::transposed(At), A));
  });
}

TEST(ScanNonfinite, PositionsInRowOrderAndTheCount) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  // Two blocks in the block row: scalar row 0 is 1 NaN | Inf 4, scalar row 1 is 2 3 | −Inf 5.
  const Csr A(1, 2, 2, {0, 2}, {0, 1}, {1, 2, nan, 3, inf, -inf, 4, 5});
  const auto scan = ec::scan_nonfinite(A);
  EXPECT_EQ(scan.count, 3);
  EXPECT_EQ(scan.row[0], 0);
  EXPECT_EQ(scan.column[0], 1);
  EXPECT_EQ(scan.row[1], 0);
  EXPECT_EQ(scan.column[1], 2);
  EXPECT_EQ(scan.row[2], 1);
  EXPECT_EQ(scan.column[2], 2);
  EXPECT_EQ(scan.row[3], -1);
  const auto clean = ec::scan_nonfinite(make(2, 2, {{0, 0, 1e308}, {1, 1, 5e-324}}));
  EXPECT_EQ(clean.count, 0);
  EXPECT_EQ(clean.row[0], -1);
}

TEST(ScanNonfinite, KeepsFivePositions) {
  const Csr A(1, 7, 1, {0, 7}, {0, 1, 2, 3, 4, 5, 6}, ec::Array<double>(7, std::nan("")));
  const auto scan = ec::scan_nonfinite(A);
  EXPECT_EQ(scan.count, 7);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(scan.column[i], i);
}

TEST(Asymmetry, ByHand) {
  EXPECT_EQ(ec::asymmetry(make(2, 2, {{0, 0, 1}, {0, 1, 3}, {1, 0, 3}})), 0);
  EXPECT_EQ(ec::asymmetry(make(2, 2, {{0, 1, 3}, {1, 0, 4}})), 0.25);
  EXPECT_EQ(ec::asymmetry(make(2, 2, {{0, 1, 3}})), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ec::asymmetry(make(2, 2, {{1, 0, 3}})), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ec::asymmetry(make(2, 3, {})), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ec::asymmetry(make(2, 2, {{0, 0, 0}})), 0);
  EXPECT_TRUE(std::isnan(ec::asymmetry(make(1, 1, {{0, 0, std::nan("")}}))));
  // The two scalars off the diagonal of a diagonal block mirror each other too.
  EXPECT_EQ(ec::asymmetry(Csr(1, 1, 2, {0, 1}, {0}, {4, 1, 2, 4})), 0.25);
}

TEST(Asymmetry, AgreesWithTheTranspose) {
  PROPERTY("0 exactly for A + A', infinity exactly when the patterns differ", [] {
    const int n = *rc::gen::inRange(1, 10), b = *rc::gen::inRange(1, 3);
    auto entries = random_entries(n * b, n * b);
    const auto A = ec::reblock(make(n * b, n * b, entries), b);
    const auto At = ec::transposed(A);
    const bool same_pattern =
        std::ranges::equal(A.row_start(), At.row_start()) && std::ranges::equal(A.column(), At.column());
    RC_ASSERT(std::isinf(ec::asymmetry(A)) == !same_pattern);
    for (const auto e : Entries(entries)) entries.push_back({e.column, e.row, e.value});
    RC_ASSERT(ec::asymmetry(ec::reblock(make(n * b, n * b, entries), b)) == 0);
  });
}

TEST(BlockCsrBuild, ThreadCountChangesNothing) {
  Entries entries;
  std::uint64_t state = 5;
  for (int t = 0; t < 200000; ++t) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    entries.push_back({static_cast<std::int32_t>((state >> 33) % 6000), static_cast<std::int32_t>((state >> 45) % 6000),
                       static_cast<double>(state >> 40)});
  }
  ec::set_threads(1);
  const auto one = make(6000, 6000, entries);
  const auto one_blocked = ec::reblock(one, 3);
  std::vector<std::int32_t> order(2000);
  for (int i = 0; i < 2000; ++i) order[i] = (i * 7) % 2000;
  const auto one_permuted = ec::permuted<double>(one_blocked, order);
  for (const int threads : {2, 5}) {
    ec::set_threads(threads);
    const auto A = make(6000, 6000, entries);
    EXPECT_TRUE(same(A, one));
    EXPECT_TRUE(same(ec::reblock(A, 3), one_blocked));
    EXPECT_TRUE(same(ec::permuted<double>(one_blocked, order), one_permuted));
  }
  ec::set_threads(0);
}

}  // namespace
