// SPDX-License-Identifier: BSD-3-Clause
// ILU(k) and IC(k) on block CSR: small cases by hand, the defining property with its bound, full LU against Eigen,
// orderings, repeated factorization without allocation, and misuse.
#include "echelon/precond/ilu/ilu.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "echelon/base/error.hpp"
#include "echelon/base/small_block.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/counted_new.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/ilu_reference.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

BlockCsr<double> matrix(std::int64_t n, const std::vector<Triplet<double>>& entries) {
  return from_triplets<double>(n, n, entries);
}

Vector<double> applied(const Ilu<double>& M, const Vector<double>& r) {
  Vector<double> z(r.size());
  M.apply(r, z);
  return z;
}

Vector<double> test_vector(std::int64_t size) {
  Vector<double> r(size);
  for (std::int64_t i = 0; i < size; ++i) r[i] = std::sin(1.0 + 0.7 * static_cast<double>(i));
  return r;
}

/// Several right-hand sides, the bits of one by one.
TEST(Ilu, AppliesToSeveralRightHandSides) {
  const auto A = problems::random({7, 8, 9}, stencils::star7(), 2, 5);
  const auto of_grid = ilu(A), of_blocks = ilu(to_block_csr(A));
  for (const Ilu<double>* M : {&of_grid, &of_blocks}) {
    std::vector<Vector<double>> r, z;
    for (int k = 0; k < 5; ++k) {
      r.push_back(test_vector(A.rows()));
      r.back()[k] += k;
      z.emplace_back(A.rows());
    }
    M->apply_many(r, z);
    for (std::size_t k = 0; k < r.size(); ++k) {
      const Vector<double> alone = applied(*M, r[k]);
      for (std::int64_t i = 0; i < alone.size(); ++i) ASSERT_EQ(z[k][i], alone[i]) << k << ", " << i;
    }
    M->apply_many(r, r);
    for (std::int64_t i = 0; i < A.rows(); ++i) ASSERT_EQ(r[4][i], z[4][i]) << i;
    z.pop_back();
    EXPECT_THROW(M->apply_many(r, z), Error);
  }
}

TEST(Ilu, ThreeByThreeByHand) {
  // [4 2 0; 2 5 4; 0 2 6]: l10 = 1/2, u11 = 4, u12 = 4, l21 = 1/2, u22 = 4; nothing falls outside, so LU = A.
  const auto A = matrix(3, {{0, 0, 4}, {0, 1, 2}, {1, 0, 2}, {1, 1, 5}, {1, 2, 4}, {2, 1, 2}, {2, 2, 6}});
  const auto M = ilu(A);
  EXPECT_EQ(M.lower().at(1, 0), 0.5);
  EXPECT_EQ(M.lower().at(2, 1), 0.5);
  EXPECT_EQ(M.upper().at(1, 1), 4);
  EXPECT_EQ(M.upper().at(1, 2), 4);
  EXPECT_EQ(M.upper().at(2, 2), 4);
  // A (1, 2, 3) = (8, 24, 22)
  const auto z = applied(M, {8.0, 24.0, 22.0});
  EXPECT_EQ(z[0], 1);
  EXPECT_EQ(z[1], 2);
  EXPECT_EQ(z[2], 3);
  const auto& report = M.report();
  EXPECT_EQ(report.name, "ilu");
  EXPECT_EQ(report.kernel, "b=1, equal rows together");
  EXPECT_EQ(report.factor_kernel, "rows, b=1, 16-bit distances");
  EXPECT_EQ(report.fill_ratio, 1);
  EXPECT_EQ(report.perturbation, 0);
  // ‖A‖∞ = 11; a row of D⁻¹U sums to 1, so nothing is bounded; A z = e gives z = (9/32, −1/16, 3/16).
  EXPECT_NEAR(report.growth, 11 * 9.0 / 32, 1e-14);
}

/// ‖(LU)⁻¹e‖∞, and its bound ‖|D⁻¹||L⁻¹e|‖∞ / (1 − ‖|D⁻¹||U|e‖∞) from the factors as they are given out.
struct Growth {
  double estimate, bound, upper;
  Growth(const BlockCsr<double>& A, const Ilu<double>& M) {
    const auto n = static_cast<Eigen::Index>(A.rows()), b = static_cast<Eigen::Index>(A.block());
    const BlockCsr<double> lower = M.lower(), whole = M.upper();
    Eigen::MatrixXd L = Eigen::MatrixXd::Identity(n, n), U(n, n), inverse = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        L(i, j) += lower.at(i, j);
        U(i, j) = whole.at(i, j);
      }
    }
    Eigen::MatrixXd beside = U;
    for (Eigen::Index i = 0; i < n; i += b) {
      inverse.block(i, i, b, b) = U.block(i, i, b, b).inverse();
      beside.block(i, i, b, b).setZero();
    }
    const Eigen::VectorXd e = Eigen::VectorXd::Ones(n), y = L.triangularView<Eigen::UnitLower>().solve(e);
    estimate = U.fullPivLu().solve(y).cwiseAbs().maxCoeff();
    upper = (inverse.cwiseAbs() * (beside.cwiseAbs() * e)).maxCoeff();
    bound = (inverse.cwiseAbs() * y.cwiseAbs()).maxCoeff() / (1 - upper);
  }
};

TEST(Ilu, GrowthIsBoundedWhereRowsOfUSumToLessThanOneAndEstimatedElsewhere) {
  for (const int b : {1, 2, 3, 5, 8, 9}) {
    SCOPED_TRACE(b);
    const auto dominant = to_block_csr(problems::random({4, 3, 3}, stencils::star7(), b, 5));
    const auto M = ilu(dominant, {.ordering = Ordering::rcm});
    const Growth of(dominant, M);
    ASSERT_LT(of.upper, 1);
    EXPECT_NEAR(M.report().growth / (of.bound * dominant.norm_inf()), 1, 1e-10);
    EXPECT_GE(M.report().growth, of.estimate * dominant.norm_inf());
    const auto rough = reference::with_random_values<double>(reference::random_rows(20, 0.3, 3), b, 8, 0.3);
    const auto N = ilu(rough);
    const Growth rough_growth(rough, N);
    ASSERT_GE(rough_growth.upper, 1);
    EXPECT_NEAR(N.report().growth / (rough_growth.estimate * rough.norm_inf()), 1, 1e-6);
  }
}

TEST(Ilu, FillIsDroppedAtLevelZeroAndKeptAtLevelOne) {
  // [2 1 1; 1 2 0; 1 0 2]: eliminating row 0 makes (1,2) = (2,1) = −1/2 at level 1.
  const auto A = matrix(3, {{0, 0, 2}, {0, 1, 1}, {0, 2, 1}, {1, 0, 1}, {1, 1, 2}, {2, 0, 1}, {2, 2, 2}});
  EXPECT_EQ(ilu(A).upper().at(1, 2), 0);
  EXPECT_EQ(ilu(A).upper().at(2, 2), 1.5);
  const auto M = ilu(A, {.fill = 1});
  EXPECT_EQ(M.upper().at(1, 2), -0.5);
  EXPECT_NEAR(M.upper().at(2, 2), 1.5 - 0.25 / 1.5, 1e-15);
  EXPECT_NEAR(M.report().fill_ratio, 9.0 / 7, 1e-15);
}

TEST(Ilu, TridiagonalIsExact) {
  const auto A = to_block_csr(problems::poisson({200, 1, 1}, Stencil({{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}})));
  const auto x = test_vector(200);
  Vector<double> b(200);
  A.apply(x, b);
  const auto z = applied(ilu(A), b);
  for (int i = 0; i < 200; ++i) EXPECT_NEAR(z[i], x[i], 1e-11);
}

/// |(LU)_ij − A_ij| on the pattern of L + U against γ_m (|L||U|)_ij, both in long double. In blocks L = W·D⁻¹ costs the
/// error of the inverse besides: γ_m (|L||D||D⁻¹||D|)_ij.
void expect_defining_property(const BlockCsr<double>& A, int fill) {
  const auto M = ilu(A, {.fill = fill, .schedule = SweepSchedule::sequential});
  ASSERT_EQ(M.report().perturbed_pivots, 0);
  const auto factors = reference::ilu(A, fill);
  const int b = A.block();
  const auto n = static_cast<int>(A.block_rows());
  const auto U = M.upper(), L = M.lower();
  using Blocks = std::vector<std::map<int, std::vector<double>>>;
  const auto collect = [&](const BlockCsr<double>& from) {
    Blocks rows(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      for (auto p = from.row_start()[i]; p < from.row_start()[i + 1]; ++p) {
        const double* at = from.values().data() + p * b * b;
        rows[static_cast<std::size_t>(i)][from.column()[p]] = {at, at + b * b};
      }
    }
    return rows;
  };
  auto lower = collect(L);
  const auto upper = collect(U);
  for (int i = 0; i < n; ++i) {
    std::vector<double> unit(static_cast<std::size_t>(b * b), 0.0);
    for (int c = 0; c < b; ++c) unit[static_cast<std::size_t>(c * b + c)] = 1;
    lower[static_cast<std::size_t>(i)][i] = unit;
  }
  const double terms = static_cast<double>(n) * b + 8.0 * b * b + 8;
  const double gamma = terms * 0x1p-53 / (1 - terms * 0x1p-53);
  for (int i = 0; i < n; ++i) {
    auto pattern = upper[static_cast<std::size_t>(i)];
    pattern.merge(std::map(lower[static_cast<std::size_t>(i)]));
    for (const auto& [j, ignored] : pattern) {
      for (int r = 0; r < b; ++r) {
        for (int c = 0; c < b; ++c) {
          long double product = 0, size = 0;
          for (const auto& [k, l] : lower[static_cast<std::size_t>(i)]) {
            const auto found = upper[static_cast<std::size_t>(k)].find(j);
            if (found == upper[static_cast<std::size_t>(k)].end()) continue;
            for (int e = 0; e < b; ++e) {
              const long double term = static_cast<long double>(l[static_cast<std::size_t>(e * b + r)]) *
                                       found->second[static_cast<std::size_t>(c * b + e)];
              product += term;
              size += std::abs(term);
            }
          }
          if (b > 1 && j <= i) {
            const auto& D = upper[static_cast<std::size_t>(j)].at(j);
            const auto& inverse = factors.inverse_diagonal[static_cast<std::size_t>(j)];
            const auto& l = lower[static_cast<std::size_t>(i)].at(j);
            for (int e = 0; e < b; ++e) {
              for (int f = 0; f < b; ++f) {
                for (int g = 0; g < b; ++g) {
                  size +=
                      std::abs(static_cast<long double>(l[e * b + r]) * D[f * b + e] * inverse[g * b + f] * D[c * b + g]);
                }
              }
            }
          }
          const long double error = std::abs(product - static_cast<long double>(A.at(i * b + r, j * b + c)));
          ASSERT_LE(error, gamma * size) << "entry " << i * b + r << ' ' << j * b + c << " block " << b << " fill " << fill;
        }
      }
    }
  }
}

TEST(Ilu, ProductEqualsMatrixOnThePattern) {
  for (const int block : {1, 2, 3, 4, 5, 6, 7, 8, 11}) {
    for (int fill = 0; fill <= 3; ++fill) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto rows = reference::random_rows(60 / block + 4, 0.15, seed);
        expect_defining_property(reference::with_random_values<double>(rows, block, seed), fill);
      }
    }
  }
  expect_defining_property(to_block_csr(problems::poisson({6, 5, 4}, stencils::star7())), 0);
  expect_defining_property(to_block_csr(problems::random({5, 4, 3}, stencils::box27(), 2, 1)), 1);
}

TEST(Ilu, CompleteFillEqualsSparseLuOfEigen) {
  for (const int block : {1, 3, 5}) {
    const std::int32_t n = 40;
    const auto A = reference::with_random_values<double>(reference::random_rows(n, 0.1, 9), block, 9, 0.4);
    std::vector<Eigen::Triplet<double>> entries;
    for (std::int64_t i = 0; i < A.rows(); ++i) {
      for (std::int64_t j = 0; j < A.rows(); ++j) {
        if (A.at(i, j) != 0) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), A.at(i, j));
      }
    }
    Eigen::SparseMatrix<double> copy(A.rows(), A.rows());
    copy.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SparseLU<Eigen::SparseMatrix<double>> direct(copy);
    const auto r = test_vector(A.rows());
    const Eigen::VectorXd expected = direct.solve(Eigen::Map<const Eigen::VectorXd>(r.data(), r.size()));
    for (const auto ordering : {Ordering::natural, Ordering::rcm}) {
      const auto z = applied(ilu(A, {.fill = n, .ordering = ordering}), r);
      for (std::int64_t i = 0; i < z.size(); ++i) ASSERT_NEAR(z[i], expected[i], 1e-10 * expected.lpNorm<Eigen::Infinity>());
    }
  }
}

TEST(Ilu, SymmetricForSymmetricMatrices) {
  const auto A = to_block_csr(problems::poisson({9, 8, 7}, stencils::box27()));
  for (const auto ordering : {Ordering::natural, Ordering::rcm}) {
    for (int fill = 0; fill <= 1; ++fill) {
      const auto M = ic(A, {.fill = fill, .ordering = ordering});
      ASSERT_TRUE(M.report().ok);
      const auto x = test_vector(A.rows());
      Vector<double> y(A.rows());
      for (std::int64_t i = 0; i < y.size(); ++i) y[i] = std::cos(0.3 * static_cast<double>(i * i % 17));
      const auto Mx = applied(M, x), My = applied(M, y);
      double one = 0, other = 0, size = 0;
      for (std::int64_t i = 0; i < y.size(); ++i) {
        one += y[i] * Mx[i];
        other += x[i] * My[i];
        size += std::abs(x[i] * My[i]);
      }
      EXPECT_NEAR(one, other, 1e-13 * size);
    }
  }
}

TEST(Ilu, IcEqualsIluForPositiveDefinite) {
  const auto A = to_block_csr(problems::poisson({7, 6, 5}, stencils::star7()));
  const auto r = test_vector(A.rows());
  const auto one = applied(ic(A), r), other = applied(ilu(A), r);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), other.begin()));
  EXPECT_EQ(ic(A).report().name, "ic");
}

TEST(Ilu, RcmIsAPermutationAndSmallMatricesWork) {
  const auto A = reference::with_random_values<double>(reference::random_rows(50, 0.04, 3), 2, 3);
  const auto M = ilu(A, {.ordering = Ordering::rcm});
  std::vector<std::int32_t> order(M.order().begin(), M.order().end());
  std::sort(order.begin(), order.end());
  for (std::int32_t i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(M.report().ordering, "rcm");
  // P A Pᵀ factored in natural order is the same arithmetic.
  const auto P = permuted(A, M.order());
  const auto r = test_vector(A.rows());
  Vector<double> permuted_r(r.size());
  for (int i = 0; i < 50; ++i) {
    for (int c = 0; c < 2; ++c) permuted_r[2 * i + c] = r[2 * M.order()[static_cast<std::size_t>(i)] + c];
  }
  const auto z = applied(M, r), expected = applied(ilu(P), permuted_r);
  for (int i = 0; i < 50; ++i) {
    for (int c = 0; c < 2; ++c) EXPECT_EQ(z[2 * M.order()[static_cast<std::size_t>(i)] + c], expected[2 * i + c]);
  }

  const auto one = ilu(matrix(1, {{0, 0, 4}}), {.ordering = Ordering::rcm});
  EXPECT_EQ(applied(one, {2.0})[0], 0.5);
  const auto none = ilu(BlockCsr<double>(0, 0, 1, Array<std::int64_t>{0}, Array<std::int32_t>(0), Array<double>(0)));
  EXPECT_TRUE(none.report().ok);
  EXPECT_EQ(applied(none, Vector<double>(0)).size(), 0);
}

TEST(Ilu, RefactorGivesNewFactorsWithoutAllocation) {
  for (const int block : {1, 3, 11}) {
    for (const auto& options : {IluOptions{}, IluOptions{.fill = 2}, IluOptions{.ordering = Ordering::rcm}}) {
      const auto rows = reference::random_rows(60, 0.08, 5);
      const auto first = reference::with_random_values<double>(rows, block, 1);
      const auto second = reference::with_random_values<double>(rows, block, 2);
      auto M = ilu(first, options);
      const auto arrays = allocation_count();
      const long before = new_calls;
      const auto& report = M.refactor(second);
      EXPECT_EQ(new_calls - before, 0) << "block " << block;
      EXPECT_EQ(allocation_count(), arrays);
      EXPECT_TRUE(report.ok);
      const auto r = test_vector(first.rows());
      Vector<double> z(r.size());
      const long before_apply = new_calls;
      const auto arrays_before_apply = allocation_count();
      M.apply(r, z);
      EXPECT_EQ(new_calls - before_apply, 0);
      EXPECT_EQ(allocation_count(), arrays_before_apply);
      const auto expected = applied(ilu(second, options), r);
      EXPECT_TRUE(std::equal(z.begin(), z.end(), expected.begin()));
    }
  }
}

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error was thrown";
  return ErrorCode::internal;
}

TEST(Ilu, RefactorRefusesAnotherPattern) {
  const auto A = matrix(3, {{0, 0, 4}, {1, 0, 1}, {1, 1, 4}, {2, 2, 4}});
  const auto other = matrix(3, {{0, 0, 4}, {0, 1, 1}, {1, 1, 4}, {2, 2, 4}});
  const auto larger = matrix(4, {{0, 0, 4}, {1, 0, 1}, {1, 1, 4}, {2, 2, 4}, {3, 3, 1}});
  for (const auto& options : {IluOptions{}, IluOptions{.fill = 1}, IluOptions{.ordering = Ordering::rcm}}) {
    auto M = ilu(A, options);
    EXPECT_EQ(code_of([&] { static_cast<void>(M.refactor(other)); }), ErrorCode::structure);
    EXPECT_EQ(code_of([&] { static_cast<void>(M.refactor(larger)); }), ErrorCode::structure);
    EXPECT_EQ(code_of([&] { static_cast<void>(M.refactor(reblock(larger, 2))); }), ErrorCode::structure);
    EXPECT_TRUE(M.refactor(A).ok);
  }
}

TEST(Ilu, IcRefactorWantsSymmetryAgainAndAllocatesNothing) {
  const auto A = matrix(2, {{0, 0, 4}, {0, 1, 1}, {1, 0, 1}, {1, 1, 4}});
  const auto scaled = matrix(2, {{0, 0, 8}, {0, 1, 2}, {1, 0, 2}, {1, 1, 8}});
  const auto skewed = matrix(2, {{0, 0, 4}, {0, 1, 1}, {1, 0, 2}, {1, 1, 4}});
  auto M = ic(A);
  const auto before = applied(M, {3.0, 3.0});
  EXPECT_ERROR(static_cast<void>(M.refactor(skewed)), symmetry, "IC needs a symmetric matrix; max|a_ij − a_ji| is 0.25");
  const auto after = applied(M, {3.0, 3.0});
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin())) << "a refused matrix leaves the factors alone";
  const auto arrays = allocation_count();
  EXPECT_TRUE(M.refactor(scaled).ok);
  EXPECT_EQ(allocation_count(), arrays);
  EXPECT_EQ(applied(M, {6.0, 6.0})[1], before[1]);
}

TEST(Ilu, MisuseIsRefused) {
  const auto A = matrix(2, {{0, 0, 4}, {0, 1, 1}, {1, 1, 4}});
  EXPECT_EQ(code_of([&] { ilu(A, {.fill = -1}); }), ErrorCode::bad_argument);
  EXPECT_EQ(code_of([&] { ilu(A, {.pivot_tolerance = -1}); }), ErrorCode::bad_argument);
  EXPECT_EQ(code_of([&] { ilu(A, {.first_shift = 0}); }), ErrorCode::bad_argument);
  EXPECT_EQ(code_of([&] { ilu(A, {.shift_value = std::nan("")}); }), ErrorCode::bad_argument);
  const std::vector<Triplet<double>> one{{0, 0, 1}};
  EXPECT_EQ(code_of([&] { ilu(from_triplets<double>(1, 2, one)); }), ErrorCode::not_square);
  EXPECT_EQ(code_of([&] { ic(A); }), ErrorCode::symmetry);
  const auto M = ilu(A);
  Vector<double> two(2), three(3);
  two.fill(1), three.fill(1);
  EXPECT_EQ(code_of([&] { M.apply(two, three); }), ErrorCode::size_mismatch);
  EXPECT_EQ(code_of([&] { M.apply(three, two); }), ErrorCode::size_mismatch);
  auto moved = ilu(A);
  EXPECT_EQ(code_of([&] {
              static_cast<void>(moved.refactor(problems::poisson({2, 1, 1}, stencils::star7())));
            }),
            ErrorCode::bad_argument);
}

}  // namespace
}  // namespace echelon
