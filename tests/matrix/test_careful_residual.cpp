// SPDX-License-Identifier: BSD-3-Clause
// careful_residual: right to the last bit or nearly where the plain residual has lost everything; the same bits for block
// CSR, structured storage and every thread count.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

TEST(CarefulResidual, KeepsWhatCancellationTakes) {
  // 1 − (2⁶⁰·1 + 1·(1 + 2⁻⁵²) − 2⁶⁰·1) = −2⁻⁵²; the plain sum rounds 2⁶⁰ + 1 + 2⁻⁵² to 2⁶⁰.
  const auto A = reference::from_dense({{0x1p60, 1, -0x1p60}, {0, 1, 0}, {0, 0, 1}});
  const Vector<double> b{1, 0, 0}, x{1, 1 + 0x1p-52, 1};
  Vector<double> plain(3), careful(3);
  A.residual(b, x, plain);
  A.careful_residual(b, x, careful);
  EXPECT_EQ(plain[0], 1);
  EXPECT_EQ(careful[0], -0x1p-52);
  EXPECT_EQ(careful[1], -(1 + 0x1p-52));
}

TEST(CarefulResidual, HasTheSameBitsForEveryStorageAndThreadCount) {
  // Lines around the SIMD widths, shorter than the stencil too; 125 entries are more than a line kernel lists.
  std::vector<Offset> all;
  for (int n = 0; n < 125; ++n) all.push_back({n % 5 - 2, n / 5 % 5 - 2, n / 25 - 2});
  const std::pair<Grid, Stencil> cases[] = {{{13, 11, 5}, stencils::box27()},   {{1, 3, 2}, stencils::star13()},
                                            {{2, 3, 2}, stencils::diamond25()}, {{37, 4, 3}, stencils::star13()},
                                            {{70, 3, 2}, stencils::star7()},    {{6, 4, 3}, Stencil(all)}};
  for (const auto& [grid, stencil] : cases) {
    for (const int dof : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
      const auto A = problems::random(grid, stencil, dof, 7);
      const auto csr = to_block_csr(A);
      Vector<double> x(A.rows()), b(A.rows()), first(A.rows()), second(A.rows()), plain(A.rows());
      for (std::int64_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i)), b[i] = 1;
      A.residual(b, x, plain);
      for (const int count : {1, 2, 5}) {
        set_threads(count);
        A.careful_residual(b, x, first);
        csr.careful_residual(b, x, second);
        for (std::int64_t i = 0; i < x.size(); ++i) {
          ASSERT_EQ(first[i], second[i]) << "row " << i << ", " << dof << " unknowns, " << count << " threads";
          ASSERT_NEAR(first[i], plain[i], 1e-12);
        }
      }
      set_threads(0);
    }
  }
}

TEST(CarefulResidual, FloatMatricesTakeItToo) {
  const std::vector<Triplet<float>> entries = {{0, 0, 0x1p20f}, {0, 1, 1.f}, {1, 1, 1.f}};
  const auto A = from_triplets<float>(2, 2, entries);
  Vector<float> r(2);
  A.careful_residual({0x1p20f, 0}, {1, 0x1p-20f}, r);
  EXPECT_EQ(r[0], -0x1p-20f);
  for (const int dof : {1, 2, 3, 5, 8}) {
    StructMatrix<float> grid({21, 3, 2}, stencils::star7(), dof);
    for (std::int64_t i = 0; i < std::ssize(grid.values()); ++i) {
      grid.values()[static_cast<std::size_t>(i)] = static_cast<float>(std::cos(static_cast<double>(i)));
    }
    const auto csr = to_block_csr(grid);
    Vector<float> x(grid.rows()), b(grid.rows(), 1.f), first(grid.rows()), second(grid.rows());
    for (std::int64_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(std::sin(static_cast<double>(i)));
    grid.careful_residual(b, x, first);
    csr.careful_residual(b, x, second);
    for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(first[i], second[i]) << "row " << i << ", " << dof << " unknowns";
  }
}

}  // namespace
}  // namespace echelon
