// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "echelon/matrix/rows/block_csr.hpp"
#include "tests/expect_error.hpp"

namespace ec = echelon;
namespace {

using Csr = ec::BlockCsr<double>;

/// ⎡1 0 2⎤
/// ⎣0 3 0⎦
Csr two_by_three() { return Csr(2, 3, 1, {0, 2, 3}, {0, 2, 1}, {1, 2, 3}); }

TEST(BlockCsr, ProductOfASmallMatrixByHand) {
  const auto A = two_by_three();
  const ec::Vector<double> x{1, 10, 100};
  ec::Vector<double> y(2);
  A.apply(x, y);
  EXPECT_EQ(y[0], 201);
  EXPECT_EQ(y[1], 30);
  const ec::Vector<double> b{1, 1};
  A.residual(b, x, y);
  EXPECT_EQ(y[0], -200);
  EXPECT_EQ(y[1], -29);
  EXPECT_EQ(A.norm_inf(), 3);
}

TEST(BlockCsr, ABlockIsColumnMajor) {
  // ⎡1 3⎤
  // ⎣2 4⎦ in one block
  const Csr A(1, 1, 2, {0, 1}, {0}, {1, 2, 3, 4});
  EXPECT_EQ(A.at(0, 1), 3);
  EXPECT_EQ(A.at(1, 0), 2);
  const ec::Vector<double> x{1, 10};
  ec::Vector<double> y(2);
  A.apply(x, y);
  EXPECT_EQ(y[0], 31);
  EXPECT_EQ(y[1], 42);
  EXPECT_EQ(A.norm_inf(), 6);
}

TEST(BlockCsr, AtGivesZeroWhereNothingIsStored) {
  const auto A = two_by_three();
  EXPECT_EQ(A.at(0, 0), 1);
  EXPECT_EQ(A.at(0, 1), 0);
  EXPECT_EQ(A.at(0, 2), 2);
  EXPECT_EQ(A.at(1, 1), 3);
  EXPECT_ERROR((void)A.at(2, 0), index_range, "(2, 0) of a matrix of 2 by 3");
  EXPECT_ERROR((void)A.at(0, -1), index_range, "(0, -1)");
}

TEST(BlockCsr, EmptyMatrix) {
  const Csr A(0, 0, 3, {0}, {}, {});
  const ec::Vector<double> x;
  ec::Vector<double> y;
  A.apply(x, y);
  EXPECT_EQ(A.rows(), 0);
  EXPECT_EQ(A.norm_inf(), 0);
}

TEST(BlockCsr, EmptyRowsGiveZero) {
  const Csr A(3, 3, 1, {0, 0, 1, 1}, {2}, {5.0});
  const ec::Vector<double> x{1, 2, 3};
  ec::Vector<double> y(3, 99.0);
  A.apply(x, y);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 15);
  EXPECT_EQ(y[2], 0);
}

TEST(BlockCsr, NormIsNanWhenAValueIs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Csr(2, 2, 1, {0, 1, 2}, {0, 1}, {nan, 5}).norm_inf()));
  EXPECT_TRUE(std::isnan(Csr(2, 2, 1, {0, 1, 2}, {0, 1}, {5, nan}).norm_inf()));
}

TEST(BlockCsr, NewValuesForTheSamePattern) {
  auto A = two_by_three();
  A.values()[2] = 7;
  EXPECT_EQ(A.at(1, 1), 7);
  const auto B = A.clone();
  A.values()[2] = 8;
  EXPECT_EQ(B.at(1, 1), 7);
}

TEST(BlockCsrBadInput, BlockSizeBelowOne) {
  EXPECT_ERROR(Csr(1, 1, 0, {0, 0}, {}, {}), bad_argument, "block size 0");
  EXPECT_ERROR(Csr(1, 1, -3, {0, 0}, {}, {}), bad_argument, "block size -3");
}

TEST(BlockCsrBadInput, NegativeSides) { EXPECT_ERROR(Csr(-1, 1, 1, {0}, {}, {}), bad_argument, "-1 by 1"); }

TEST(BlockCsrBadInput, SidesBeyond32BitIndices) {
  EXPECT_ERROR(Csr(1, std::int64_t{1} << 31, 1, {0, 0}, {}, {}), bad_argument, "at most 2147483647");
  EXPECT_ERROR(Csr(std::int64_t{1} << 40, 1, 1, {0, 0}, {}, {}), bad_argument, "32-bit");
}

TEST(BlockCsrBadInput, BlockWhoseSquareOverflows) {
  EXPECT_ERROR(Csr(1, 1, 50000, {0, 0}, {}, {}), bad_argument, "block size 50000");
}

TEST(BlockCsrBadInput, ArraysOfTheWrongLength) {
  EXPECT_ERROR(Csr(2, 2, 1, {0, 1}, {0}, {1.0}), size_mismatch, "row_start: got 2 elements, expected 3");
  EXPECT_ERROR(Csr(1, 1, 2, {0, 1}, {0}, {1, 2, 3}), size_mismatch, "values: got 3 elements, expected 1 blocks of 2×2");
  EXPECT_ERROR(Csr(1, 2, 1, {0, 2}, {0}, {1.0}), size_mismatch, "column: got 1 elements, expected 2");
}

TEST(BlockCsrBadInput, RowStartMustBeginWithZeroAndRise) {
  EXPECT_ERROR(Csr(1, 1, 1, {1, 1}, {0}, {1.0}), structure, "row_start begins with 1");
  EXPECT_ERROR(Csr(2, 2, 1, {0, 2, 1}, {0}, {1.0}), structure, "block row 1: row_start falls from 2 to 1");
}

TEST(BlockCsrBadInput, ColumnsOutsideUnsortedOrTwice) {
  EXPECT_ERROR(Csr(2, 2, 1, {0, 1, 2}, {0, 2}, {1, 2}), index_range, "block row 1: block column 2");
  EXPECT_ERROR(Csr(2, 2, 1, {0, 1, 2}, {0, -1}, {1, 2}), index_range, "legal are 0 to 1");
  EXPECT_ERROR(Csr(2, 2, 1, {0, 2, 2}, {1, 0}, {1, 2}), structure, "block row 0: block column 0 follows 1");
  EXPECT_ERROR(Csr(2, 2, 1, {0, 2, 2}, {1, 1}, {1, 2}), duplicate_entry, "block column 1 is stored twice");
}

TEST(BlockCsrBadInput, TheFirstOffenderIsNamedEvenWhenSeveralThreadsLook) {
  const std::int64_t n = 100000;
  ec::Array<std::int64_t> row_start(n + 1);
  ec::Array<std::int32_t> column(n);
  for (std::int64_t i = 0; i <= n; ++i) row_start[i] = i;
  for (std::int64_t i = 0; i < n; ++i) column[i] = i % 7 == 6 && i > 70000 ? -5 : static_cast<std::int32_t>(i);
  EXPECT_ERROR(Csr(n, n, 1, std::move(row_start), std::move(column), ec::Array<double>(n, 1.0)), index_range,
               "block row 70006: block column -5");
}

TEST(BlockCsrBadInput, VectorsThatDoNotFitTheProduct) {
  const auto A = two_by_three();
  ec::Vector<double> two(2, 1.0), three(3, 1.0), other(2, 1.0);
  EXPECT_ERROR(A.apply(two, other), size_mismatch, "x: got 2 elements, expected 3");
  EXPECT_ERROR(A.apply(three, three), size_mismatch, "the result: got 3 elements, expected 2");
  EXPECT_ERROR(A.residual(three, three, two), size_mismatch, "residual: b: got 3 elements, expected 2");
  EXPECT_ERROR(A.residual(two, three, two), bad_argument, "b and r are the same vector");
  const Csr square(2, 2, 1, {0, 1, 2}, {0, 1}, {1, 1});
  EXPECT_ERROR(square.apply(two, two), bad_argument, "the same vector");
}

TEST(BlockCsrDevice, ProductOnTheGpuHasTheHostsBits) {
  if (ec::Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine, or a build without CUDA";
  const auto A = two_by_three();
  const auto on_gpu = A.to(ec::Device::cuda());
  const ec::Vector<double> x{0.1, 0.7, 1.3}, b{3, 4};
  ec::Vector<double> y(2), r(2);
  A.apply(x, y);
  A.residual(b, x, r);
  const auto x_gpu = x.to(ec::Device::cuda()), b_gpu = b.to(ec::Device::cuda());
  ec::Vector<double> y_gpu(2, ec::Device::cuda()), host_result(2);
  on_gpu.apply(x_gpu, y_gpu);
  EXPECT_TRUE(std::equal(y.begin(), y.end(), y_gpu.to(ec::Device::host()).begin()));
  on_gpu.residual(b_gpu, x_gpu, y_gpu);
  EXPECT_TRUE(std::equal(r.begin(), r.end(), y_gpu.to(ec::Device::host()).begin()));
  EXPECT_EQ(on_gpu.norm_inf(), 3);
  EXPECT_ERROR(on_gpu.apply(x, host_result), device, "mixing places");
  EXPECT_ERROR(A.apply(x_gpu, host_result), device, "mixing places");
  EXPECT_ERROR((void)on_gpu.at(0, 0), device, "cuda:0");
}

}  // namespace
