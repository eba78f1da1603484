// SPDX-License-Identifier: BSD-3-Clause
// Products against a plain triple loop (the same bits), against Eigen (to rounding), and over thread counts (the same bits).
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <Eigen/Sparse>
#include <cmath>
#include <set>

#include "echelon/base/threads.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/problem/problems.hpp"

namespace ec = echelon;
namespace {

template <class T>
ec::Vector<T> wavy(std::int64_t n) {
  ec::Vector<T> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(std::sin(0.3 * static_cast<double>(i) + 1));
  return x;
}

/// The specification: each scalar row one chain of fma from 0 over ascending columns.
template <class T>
ec::Vector<T> plain_product(const ec::BlockCsr<T>& A, const ec::Vector<T>& x) {
  ec::Vector<T> y(A.rows());
  const int b = A.block();
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    for (int r = 0; r < b; ++r) {
      T sum = 0;
      for (std::int64_t e = A.row_start()[i]; e < A.row_start()[i + 1]; ++e) {
        for (int c = 0; c < b; ++c) sum = std::fma(A.values()[(e * b + c) * b + r], x[A.column()[e] * b + c], sum);
      }
      y[i * b + r] = sum;
    }
  }
  return y;
}

template <class T>
bool equal(const ec::Vector<T>& x, const ec::Vector<T>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

ec::StructMatrix<float> rounded(const ec::StructMatrix<double>& A) {
  ec::StructMatrix<float> B(A.grid(), A.stencil(), A.dof());
  std::ranges::transform(A.values(), B.values().begin(), [](double v) { return static_cast<float>(v); });
  return B;
}

/// Around the SIMD widths: lines of 1 to 19 points, and one longer than a strip.
TEST(Spmv, BothFormatsHaveThePlainLoopsBits) {
  for (const int b : {1, 2, 3, 4, 5, 6, 7, 8, 11}) {
    for (const std::int64_t nx : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 19, 1500}) {
      const auto A = ec::problems::random({nx, 3, 2}, ec::stencils::star7(), b, 17);
      const auto B = ec::to_block_csr(A);
      const auto x = wavy<double>(A.rows());
      ec::Vector<double> y(A.rows(), 9.0), z(A.rows(), 9.0);
      A.apply(x, y);
      B.apply(x, z);
      const auto expected = plain_product(B, x);
      ASSERT_TRUE(equal(y, expected)) << "grid, b " << b << " nx " << nx;
      ASSERT_TRUE(equal(z, expected)) << "block CSR, b " << b << " nx " << nx;
      const auto right = wavy<double>(A.rows());
      A.residual(right, x, y);
      B.residual(right, x, z);
      for (std::int64_t i = 0; i < A.rows(); ++i) {
        ASSERT_EQ(y[i], right[i] - expected[i]);
        ASSERT_EQ(z[i], right[i] - expected[i]);
      }
    }
  }
}

TEST(Spmv, SinglePrecisionToo) {
  for (const int b : {1, 3, 8, 11}) {
    const auto A = rounded(ec::problems::random({17, 5, 3}, ec::stencils::box27(), b, 4));
    const auto B = ec::to_block_csr(A);
    const auto x = wavy<float>(A.rows());
    ec::Vector<float> y(A.rows()), z(A.rows());
    A.apply(x, y);
    B.apply(x, z);
    const auto expected = plain_product(B, x);
    ASSERT_TRUE(equal(y, expected)) << b;
    ASSERT_TRUE(equal(z, expected)) << b;
  }
}

TEST(Spmv, AnyStencilAnyGrid) {
  ASSERT_TRUE(rc::check("random stencils, wider than the grid too", [] {
    std::set<std::tuple<int, int, int>> chosen;
    for (int t = *rc::gen::inRange(0, 12); t > 0; --t) {
      chosen.insert({*rc::gen::inRange(-9, 10), *rc::gen::inRange(-3, 4), *rc::gen::inRange(-3, 4)});
    }
    std::vector<ec::Offset> offsets;
    for (const auto& [x, y, z] : chosen) offsets.push_back({x, y, z});
    const ec::Grid grid{*rc::gen::inRange(1, 24), *rc::gen::inRange(1, 6), *rc::gen::inRange(1, 5)};
    const auto A =
        ec::problems::random(grid, ec::Stencil(offsets), *rc::gen::inRange(1, 5), *rc::gen::arbitrary<std::uint64_t>());
    const auto B = ec::to_block_csr(A);
    const auto x = wavy<double>(A.rows());
    ec::Vector<double> y(A.rows());
    A.apply(x, y);
    RC_ASSERT(equal(y, plain_product(B, x)));
    RC_ASSERT(A.nonzeros() == B.nonzeros());
    RC_ASSERT(A.norm_inf() == B.norm_inf());
    const auto back = ec::to_struct(B, grid, A.stencil());
    RC_ASSERT(std::ranges::equal(back.values(), A.values()));
    const bool symmetric = A.stencil().symmetric();
    RC_ASSERT(symmetric || std::isinf(ec::asymmetry(A)));
    RC_ASSERT(!symmetric || ec::asymmetry(A) == ec::asymmetry(B));
  }));
}

TEST(Spmv, AgreesWithEigen) {
  for (const int b : {1, 2, 5}) {
    const auto A = ec::reblock(ec::to_block_csr(ec::problems::random({7, 6, 5}, ec::stencils::diamond25(), b, 8)), 1);
    std::vector<Eigen::Triplet<double>> entries;
    for (std::int64_t i = 0; i < A.rows(); ++i) {
      for (std::int64_t e = A.row_start()[i]; e < A.row_start()[i + 1]; ++e) {
        entries.emplace_back(static_cast<int>(i), A.column()[e], A.values()[e]);
      }
    }
    Eigen::SparseMatrix<double, Eigen::RowMajor> E(A.rows(), A.rows());
    E.setFromTriplets(entries.begin(), entries.end());
    const auto x = wavy<double>(A.rows());
    ec::Vector<double> y(A.rows());
    A.apply(x, y);
    const Eigen::VectorXd expected = E * Eigen::Map<const Eigen::VectorXd>(x.data(), x.size());
    for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-13 * A.norm_inf());
  }
}

TEST(Spmv, ThreadCountChangesNothing) {
  const auto A = ec::problems::random({61, 37, 23}, ec::stencils::star7(), 2, 31);
  const auto B = ec::to_block_csr(A);
  const auto x = wavy<double>(A.rows());
  ec::set_threads(1);
  ec::Vector<double> one(A.rows());
  B.apply(x, one);
  const double norm = B.norm_inf();
  for (const int threads : {2, 3, 7}) {
    ec::set_threads(threads);
    ec::Vector<double> y(A.rows()), z(A.rows());
    A.apply(x, y);
    B.apply(x, z);
    EXPECT_TRUE(equal(y, one)) << threads;
    EXPECT_TRUE(equal(z, one)) << threads;
    EXPECT_EQ(A.norm_inf(), norm);
    EXPECT_EQ(B.norm_inf(), norm);
  }
  ec::set_threads(0);
}

TEST(Spmv, ARowWithAllTheEntriesIsSharedOutRight) {
  const std::int64_t n = 50000;
  ec::Array<std::int64_t> row_start(n + 1, std::int64_t{0});
  for (std::int64_t i = 8; i <= n; ++i) row_start[i] = n;  // all in row 7
  ec::Array<std::int32_t> column(n);
  for (std::int64_t i = 0; i < n; ++i) column[i] = static_cast<std::int32_t>(i);
  const ec::BlockCsr<double> A(n, n, 1, std::move(row_start), std::move(column), ec::Array<double>(n, 1.0));
  const ec::Vector<double> x(n, 1.0);
  for (const int threads : {1, 2, 5}) {
    ec::set_threads(threads);
    ec::Vector<double> y(n, 3.0);
    A.apply(x, y);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], i == 7 ? static_cast<double>(n) : 0);
  }
  ec::set_threads(0);
}

}  // namespace
