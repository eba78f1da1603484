// SPDX-License-Identifier: BSD-3-Clause
// careful_residual: right to the last bit or nearly where the plain residual has lost everything; the same bits for block
// CSR, structured storage and every thread count.
#include <gtest/gtest.h>

#include <cmath>

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
  for (const int dof : {1, 2, 3, 9}) {
    const auto A = problems::random({13, 11, 5}, stencils::box27(), dof, 7);
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

TEST(CarefulResidual, FloatMatricesTakeItToo) {
  const std::vector<Triplet<float>> entries = {{0, 0, 0x1p20f}, {0, 1, 1.f}, {1, 1, 1.f}};
  const auto A = from_triplets<float>(2, 2, entries);
  Vector<float> r(2);
  A.careful_residual({0x1p20f, 0}, {1, 0x1p-20f}, r);
  EXPECT_EQ(r[0], -0x1p-20f);
}

}  // namespace
}  // namespace echelon
