// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/struct_matrix.hpp"
#include "echelon/problem/problems.hpp"

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

}  // namespace
