// SPDX-License-Identifier: BSD-3-Clause
// ParILUT and ParICT: rounds against the formulas in maps, limits kept, everything kept gives a complete factorization,
// symmetry to the bit, threads, the selection, refusals and breakdowns, and iterations on Poisson.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/factor/fixed_point/kth_largest.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/fixed_point_reference.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using reference::SparseRows;

std::int64_t entries(const SparseRows& S, bool lower) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < S.size(); ++i) {
    for (const auto& [j, value] : S[i]) count += lower ? j < static_cast<int>(i) : j > static_cast<int>(i);
  }
  return count;
}

/// The places that LU fills, with zeros.
SparseRows grown(const BlockCsr<double>& A, const SparseRows& S) {
  SparseRows C = S;
  for (std::size_t i = 0; i < S.size(); ++i) {
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p)
      C[i].try_emplace(A.column()[static_cast<std::size_t>(p)], 0.0);
    for (const auto& [k, s] : S[i]) {
      if (k >= static_cast<int>(i)) break;
      for (const auto& [j, u] : S[static_cast<std::size_t>(k)]) {
        if (j > k) C[i].try_emplace(j, 0.0);
      }
    }
  }
  return C;
}

/// The `limit` largest of a triangle by |s_ij| |d_min|^−½; no ties in what tests give it.
void keep_largest(SparseRows& S, bool lower, std::int64_t limit) {
  const auto weight = [&](std::size_t i, int j, double s) {
    const auto least = std::min(i, static_cast<std::size_t>(j));
    return std::abs(s) * std::sqrt(std::abs(1 / S[least].at(static_cast<int>(least))));
  };
  const auto belongs = [&](std::size_t i, int j) { return lower ? j < static_cast<int>(i) : j > static_cast<int>(i); };
  std::vector<double> weights;
  for (std::size_t i = 0; i < S.size(); ++i) {
    for (const auto& [j, s] : S[i]) {
      if (belongs(i, j) && s != 0) weights.push_back(weight(i, j, s));
    }
  }
  std::sort(weights.rbegin(), weights.rend());
  const double least = static_cast<std::int64_t>(weights.size()) > limit && limit > 0
                           ? weights[static_cast<std::size_t>(limit) - 1]
                           : std::numeric_limits<double>::denorm_min();
  SparseRows kept(S.size());
  for (std::size_t i = 0; i < S.size(); ++i) {
    for (const auto& [j, s] : S[i]) {
      if (!belongs(i, j) || weight(i, j, s) >= least) kept[i][j] = s;
    }
  }
  S = kept;
}

TEST(ParIlut, EveryRoundIsTheFormulas) {
  const int n = 50;
  const auto A = reference::with_random_values<double>(reference::random_rows(n, 0.08, 21), 1, 23);
  SparseRows S(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < S.size(); ++i) {
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
      S[i][A.column()[static_cast<std::size_t>(p)]] = A.values()[static_cast<std::size_t>(p)];
    }
  }
  const auto limit = [&](bool lower) {
    return static_cast<std::int64_t>(1.5 * static_cast<double>(entries(S, lower) + n) - n);
  };
  const auto lower_limit = limit(true), upper_limit = limit(false);
  for (int rounds = 1; rounds <= 4; ++rounds) {
    SCOPED_TRACE(rounds);
    S = reference::swept(A, grown(A, S));
    keep_largest(S, true, lower_limit);
    keep_largest(S, false, upper_limit);
    S = reference::swept(A, S);
    const auto M = parilut(A, {.factor_sweeps = rounds, .fill_limit = 1.5});
    ASSERT_TRUE(M.report().ok) << M.report().message;
    const auto L = M.lower(), U = M.upper();
    ASSERT_EQ(L.nonzeros(), entries(S, true));
    ASSERT_EQ(U.nonzeros(), entries(S, false) + n);
    for (int i = 0; i < n; ++i) {
      for (const auto& [j, s] : S[static_cast<std::size_t>(i)]) {
        if (j < i) {
          ASSERT_EQ(L.at(i, j), s * (1 / S[static_cast<std::size_t>(j)].at(j))) << i << ", " << j;
        }
        if (j > i) {
          ASSERT_EQ(U.at(i, j), s) << i << ", " << j;
        }
      }
    }
    EXPECT_LE(L.nonzeros(), lower_limit);
    EXPECT_LE(U.nonzeros() - n, upper_limit);
    double change = 0, norm = 0;
    reference::swept(A, S, &change);
    for (const double a : A.values()) norm += a * a;
    EXPECT_NEAR(M.report().pattern_residual, change / std::sqrt(norm), 1e-12);
    EXPECT_GT(M.report().threshold, 0);
    EXPECT_EQ(M.report().name, "parilut");
  }
}

TEST(ParIlut, WithoutALimitItBecomesComplete) {
  const auto A = reference::with_random_values<double>(reference::random_rows(30, 0.15, 5), 1, 9);
  const auto M = parilut(A, {.factor_sweeps = 40, .fill_limit = 30});
  const Vector<double> x = [] {
    Vector<double> v(30);
    for (std::int64_t i = 0; i < 30; ++i) v[i] = 1 + 0.1 * static_cast<double>(i);
    return v;
  }();
  Vector<double> b(30), z(30);
  A.apply(x, b);
  M.apply(b, z);
  for (std::int64_t i = 0; i < 30; ++i) EXPECT_NEAR(z[i], x[i], 1e-12);
}

TEST(ParIlut, SymmetricToTheBit) {
  const auto A = to_block_csr(problems::variable_poisson({9, 8, 7}, stencils::star7()));
  for (const auto ordering : {Ordering::natural, Ordering::rcm}) {
    const auto M = parict(A, {.ordering = ordering, .fill_limit = 2});
    ASSERT_TRUE(M.report().ok) << M.report().message;
    EXPECT_EQ(M.report().name, "parict");
    const auto L = M.lower(), U = M.upper();
    ASSERT_EQ(L.nonzeros() + A.rows(), U.nonzeros());
    for (std::int64_t i = 0; i < L.block_rows(); ++i) {
      for (auto p = L.row_start()[static_cast<std::size_t>(i)]; p < L.row_start()[static_cast<std::size_t>(i) + 1]; ++p) {
        const auto j = L.column()[static_cast<std::size_t>(p)];
        ASSERT_NEAR(L.values()[static_cast<std::size_t>(p)] * U.at(j, j), U.at(j, i), 1e-14 * std::abs(U.at(j, i)));
      }
    }
    EXPECT_LE(M.report().fill_ratio, 2.2);
    EXPECT_GE(M.report().fill_ratio, 1.5);
  }
}

TEST(ParIlut, TheSameBitsForEveryThreadCount) {
  const auto A = to_block_csr(problems::random({14, 13, 12}, stencils::star7(), 1, 6));
  const int before = threads();
  set_threads(1);
  const auto one = parilut(A);
  set_threads(3);
  const auto three = parilut(A);
  set_threads(before);
  ASSERT_EQ(one.upper().nonzeros(), three.upper().nonzeros());
  const auto a = one.upper(), b = three.upper();
  for (std::size_t e = 0; e < a.values().size(); ++e) ASSERT_EQ(a.values()[e], b.values()[e]) << e;
  EXPECT_EQ(one.report().pattern_residual, three.report().pattern_residual);
  EXPECT_EQ(one.report().threshold, three.report().threshold);
}

TEST(ParIlut, RefactorFindsThePatternAnew) {
  const auto A = to_block_csr(problems::random({6, 6, 6}, stencils::star7(), 1, 1));
  const auto B = to_block_csr(problems::random({6, 6, 6}, stencils::star7(), 1, 2));
  auto M = parilut(A);
  ASSERT_TRUE(M.refactor(B).ok);
  const auto fresh = parilut(B).upper(), again = M.upper();
  ASSERT_EQ(fresh.nonzeros(), again.nonzeros());
  for (std::size_t e = 0; e < fresh.values().size(); ++e) ASSERT_EQ(fresh.values()[e], again.values()[e]) << e;
  const auto other = to_block_csr(problems::random({5, 6, 6}, stencils::star7(), 1, 2));
  EXPECT_ERROR((void)M.refactor(other), structure, "were factored first");
}

TEST(ParIlut, BreakdownsAreSaid) {
  const auto far = reference::with_random_values<double>(reference::random_rows(80, 0.2, 13), 1, 17, 0.02);
  const auto refused = parilut(far, {.shift = ShiftPolicy::none});
  EXPECT_FALSE(refused.report().ok);
  EXPECT_NE(refused.report().message.find("lead away from A"), std::string::npos) << refused.report().message;
  const auto repaired = parilut(far);
  EXPECT_TRUE(repaired.report().ok) << repaired.report().message;
  EXPECT_GT(repaired.report().shift, 0);
  auto nan = to_block_csr(problems::poisson({4, 4, 4}, stencils::star7()));
  nan.values()[50] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(parilut(nan).report().ok);
  EXPECT_NE(parilut(nan).report().message.find("NaN or Inf"), std::string::npos);
  const auto blocks = to_block_csr(problems::random({4, 4, 4}, stencils::star7(), 2, 1));
  EXPECT_ERROR((void)parilut(blocks), bad_argument, "blocks of size 1");
  EXPECT_ERROR((void)parict(to_block_csr(problems::convection_diffusion({4, 4, 4}, stencils::star7()))), symmetry,
               "needs a symmetric matrix");
  EXPECT_ERROR((void)parilut(far, {.fill_limit = -1}), bad_argument, "the fill limit is -1");
}

TEST(ParIlut, TinyOnes) {
  const std::vector<Triplet<double>> one = {{0, 0, 4.0}};
  const auto A = from_triplets<double>(1, 1, one);
  Vector<double> r{8.0}, z(1);
  parilut(A).apply(r, z);
  EXPECT_EQ(z[0], 2);
  EXPECT_TRUE(parilut(from_triplets<double>(0, 0, {})).report().ok);
  const auto diagonal = parilut(from_triplets<double>(1, 1, one), {.fill_limit = 0});
  EXPECT_EQ(diagonal.lower().nonzeros(), 0);
}

TEST(ParIlut, FewerIterationsThanIcOnPoisson) {
  const auto A = problems::poisson({32, 32, 32}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  const auto iterations = [&](const char* pc, const IluOptions& options) {
    const auto M = find_preconditioner(pc).make(&A, {.ilu = options});
    Vector<double> x(A.rows(), 0.0);
    const auto report = cg(A, b, x, *M, {.rtol = 1e-8});
    EXPECT_TRUE(report.converged) << pc;
    return static_cast<double>(report.iterations);
  };
  const double ratio = iterations("parilut", {}) / iterations("ic", {});
  EXPECT_GE(ratio, 0.55);
  EXPECT_LE(ratio, 0.90);
}

TEST(KthLargest, IsThatOfSorting) {
  std::mt19937_64 random(3);
  for (const int n : {1, 7, 1000}) {
    std::vector<double> numbers(static_cast<std::size_t>(n));
    for (auto& one : numbers) one = std::exp(std::uniform_real_distribution<double>(-300, 300)(random));
    auto sorted = numbers;
    std::sort(sorted.rbegin(), sorted.rend());
    for (const int limit : {1, n / 3, n - 1, n}) {
      if (limit < 1 || limit > n) continue;
      const double least = selection_threshold(4, limit, [&](std::int64_t part, auto&& visit) {
        for (auto i = static_cast<std::size_t>(part); i < numbers.size(); i += 4) visit(numbers[i]);
      });
      const auto kept = std::count_if(numbers.begin(), numbers.end(), [&](double x) { return x >= least; });
      EXPECT_EQ(kept, limit) << n;
      if (limit < n) {
        EXPECT_EQ(least, sorted[static_cast<std::size_t>(limit) - 1]);
      }
    }
  }
}

TEST(KthLargest, TiesGoOrStayTogether) {
  const std::vector<double> numbers = {5, 3, 3, 3, 3, 1, 0, 0};
  const auto kept = [&](std::int64_t limit) {
    const double least = selection_threshold(1, limit, [&](std::int64_t, auto&& visit) {
      for (const double one : numbers) visit(one);
    });
    return std::count_if(numbers.begin(), numbers.end(), [&](double x) { return x >= least; });
  };
  EXPECT_EQ(kept(0), 0);
  EXPECT_EQ(kept(1), 1);
  EXPECT_EQ(kept(2), 1);  // one too few is nearer than three too many
  EXPECT_EQ(kept(3), 5);
  EXPECT_EQ(kept(4), 5);
  EXPECT_EQ(kept(5), 5);
  EXPECT_EQ(kept(7), 6) << "zeros never stay";
  EXPECT_EQ(kept(100), 6);
}

}  // namespace
}  // namespace echelon
