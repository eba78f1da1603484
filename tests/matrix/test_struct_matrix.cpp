// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"

namespace ec = echelon;
namespace {

TEST(StructMatrix, OneDimensionalLaplacianByHand) {
  ec::StructMatrix<double> A({4, 1, 1}, ec::Stencil({{-1, 0, 0}, {1, 0, 0}}));
  A.fill([](auto, auto, auto, int e, std::span<double> block) { block[0] = e == 1 ? 2.0 : -1.0; });
  EXPECT_EQ(A.nonzeros(), 10);
  const ec::Vector<double> x{1, 2, 4, 8};
  ec::Vector<double> y(4);
  A.apply(x, y);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], -1);
  EXPECT_EQ(y[2], -2);
  EXPECT_EQ(y[3], 12);
  EXPECT_EQ(A.norm_inf(), 4);
}

TEST(StructMatrix, TheProductIsThatOfItsBlockCsrBitForBit) {
  for (const auto& name : ec::stencils::names()) {
    for (const int dof : {1, 2, 5, 8, 11}) {
      for (const ec::Grid grid : {ec::Grid{5, 4, 3}, ec::Grid{1, 7, 2}, ec::Grid{33, 1, 1}, ec::Grid{1, 1, 1}}) {
        const auto A = ec::problems::random(grid, ec::stencils::named(name), dof, 7);
        const auto B = ec::to_block_csr(A);
        EXPECT_EQ(A.nonzeros(), B.nonzeros());
        EXPECT_EQ(A.norm_inf(), B.norm_inf());
        ec::Vector<double> x(A.rows()), y(A.rows()), z(A.rows());
        for (std::int64_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 3);
        A.apply(x, y);
        B.apply(x, z);
        for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], z[i]) << name << " dof " << dof << " row " << i;
        A.residual(x, x, y);
        for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[i] - z[i]);
        const auto back = ec::to_struct(B, grid, A.stencil());
        ASSERT_TRUE(std::equal(A.values().begin(), A.values().end(), back.values().begin()));
      }
    }
  }
}

TEST(StructMatrix, FillIsCalledOnceForEveryNeighbourInsideAndForNoOther) {
  ec::StructMatrix<double> A({40, 30, 20}, ec::stencils::box27(), 1);
  A.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int e, std::span<double> block) {
    const auto o = A.stencil().offsets()[e];
    block[0] += A.grid().contains(i + o.x, j + o.y, k + o.z) ? 1 : 1000;
  });
  double sum = 0;
  for (const double v : A.values()) sum += v;
  EXPECT_EQ(sum, static_cast<double>(A.nonzeros()));
}

TEST(StructMatrix, WhatFillThrowsIsPassedOn) {
  ec::StructMatrix<double> A({50, 50, 50}, ec::stencils::star7(), 1);
  EXPECT_ERROR(A.fill([](std::int64_t i, auto, auto, int, std::span<double>) {
    if (i == 7) throw ec::Error(ec::ErrorCode::bad_argument, "mine");
  }),
               bad_argument, "mine");
}

TEST(StructMatrix, BlocksOfEntriesOutsideAreNeverMultiplied) {
  auto A = ec::problems::poisson({3, 1, 1}, ec::Stencil({{-1, 0, 0}, {1, 0, 0}}));
  A.block(0, 0)[0] = std::nan("");
  A.block(2, 2)[0] = std::nan("");
  const ec::Vector<double> x(3, 1.0);
  ec::Vector<double> y(3);
  A.apply(x, y);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 1);
  EXPECT_EQ(A.norm_inf(), 4);
}

TEST(StructMatrixBadInput, SidesAndUnknownsBelowOne) {
  EXPECT_ERROR(ec::StructMatrix<double>({0, 1, 1}, ec::stencils::star7()), bad_argument, "0x1x1");
  EXPECT_ERROR(ec::StructMatrix<double>({1, 1, -4}, ec::stencils::star7()), bad_argument, "at least 1");
  EXPECT_ERROR(ec::StructMatrix<double>({1, 1, 1}, ec::stencils::star7(), 0), bad_argument, "0 unknowns");
}

TEST(StructMatrixBadInput, WhatWillNotFitIsRefusedBeforeItIsAllocated) {
  const auto before = ec::allocation_count();
  EXPECT_ERROR(ec::StructMatrix<double>({100000, 100000, 1000}, ec::stencils::star7()), will_not_fit, "TiB");
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_ERROR(ec::StructMatrix<double>({huge, huge, huge}, ec::stencils::star7(), 100), will_not_fit, "EiB");
  EXPECT_EQ(ec::allocation_count(), before);
}

TEST(StructMatrixBadInput, BlocksVectorsAndConversions) {
  auto A = ec::problems::poisson({3, 3, 1}, ec::stencils::star5());
  EXPECT_ERROR((void)A.block(9, 0), index_range, "point 9");
  EXPECT_ERROR((void)A.block(0, 5), index_range, "entry 5");
  EXPECT_ERROR((void)A.block(-1, 0), index_range, "point -1");
  ec::Vector<double> nine(9, 1.0), eight(8);
  EXPECT_ERROR(A.apply(nine, eight), size_mismatch, "got 8 elements, expected 9");
  EXPECT_ERROR(A.apply(nine, nine), bad_argument, "the same vector");
  const auto B = ec::to_block_csr(A);
  EXPECT_ERROR((void)ec::to_struct(B, {4, 3, 1}, A.stencil()), size_mismatch, "got 9 elements, expected 12");
  const ec::BlockCsr<double> wide(1, 2, 1, {0, 1}, {0}, {1.0});
  EXPECT_ERROR((void)ec::to_struct(wide, {1, 1, 1}, A.stencil()), not_square, "1 by 2");
}

TEST(StructMatrixBadInput, APatternThatDoesNotFitTheStencilIsNamedByItsFirstEntry) {
  const auto B = ec::to_block_csr(ec::problems::poisson({3, 3, 1}, ec::stencils::box9()));
  EXPECT_ERROR((void)ec::to_struct(B, {3, 3, 1}, ec::stencils::star5()), structure,
               "grid point (0,0,0), block row 0: block column 4 is the neighbour (1,1,0)");
}

TEST(StructMatrix, AsymmetryOfGridAndBlockCsrAgree) {
  EXPECT_EQ(ec::asymmetry(ec::problems::poisson({4, 3, 2}, ec::stencils::box27())), 0);
  const auto A = ec::problems::convection_diffusion({4, 3, 2}, ec::stencils::star7());
  EXPECT_GT(ec::asymmetry(A), 0);
  EXPECT_EQ(ec::asymmetry(A), ec::asymmetry(ec::to_block_csr(A)));
  auto B = ec::problems::poisson({4, 3, 2}, ec::stencils::star7());
  B.block(0, 3)[0] = std::nan("");
  EXPECT_TRUE(std::isnan(ec::asymmetry(B)));
}

}  // namespace
