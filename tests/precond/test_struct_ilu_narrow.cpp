// SPDX-License-Identifier: BSD-3-Clause
// Factors kept in fewer bits under the arithmetic of the vectors: what is stored is the rounded factor, the sweeps are
// exact with it, a range that does not suffice is said, and a solve that suffers returns to FP64.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "echelon/base/small_block.hpp"
#include "echelon/base/stored.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "tests/expect_error.hpp"

namespace ec = echelon;
namespace {

using ec::Stored;

double unit(Stored stored) { return std::exp2(stored == Stored::fp32 ? -24 : stored == Stored::fp16 ? -11 : -8); }

TEST(Stored, RoundsToNearestAndNamesWhatDoesNotFit) {
  const std::vector<double> from{1, 1 + 0x1p-11, 1 + 3 * 0x1p-11, 65504, 65519, 65520, 1e-6, 0x1p-25, -0.0, -70000};
  std::vector<std::uint16_t> half(from.size());
  EXPECT_EQ(ec::narrow(from.data(), 10, 1.0, Stored::fp16, half.data()), 2);
  const auto value = [&](int i) { return ec::widened(half.data(), i, Stored::fp16); };
  EXPECT_EQ(value(0), 1);
  EXPECT_EQ(value(1), 1) << "a tie goes to even";
  EXPECT_EQ(value(2), 1 + 0x1p-9);
  EXPECT_EQ(value(3), 65504);
  EXPECT_EQ(value(4), 65504);
  EXPECT_TRUE(std::isinf(value(5)));
  EXPECT_NEAR(value(6), 1e-6, 0x1p-25);
  EXPECT_EQ(value(7), 0);
  EXPECT_TRUE(std::signbit(value(8)));
  EXPECT_TRUE(std::isinf(value(9)));
  std::vector<std::uint16_t> brain(3);
  const std::vector<double> numbers{1 + 0x1p-8, 1 + 3 * 0x1p-8, 3e38};
  EXPECT_EQ(ec::narrow(numbers.data(), 3, 1.0, Stored::bf16, brain.data()), 0);
  EXPECT_EQ(ec::widened(brain.data(), 0, Stored::bf16), 1);
  EXPECT_EQ(ec::widened(brain.data(), 1, Stored::bf16), 1 + 0x1p-6);
  EXPECT_ERROR((void)ec::stored_from_word("fp8"), bad_argument, "fp64, fp32, bf16, fp16");
}

/// The sweeps with the factors as they are stored, in plain loops.
ec::Vector<double> solved(const ec::BlockCsr<double>& L, const ec::BlockCsr<double>& U, const ec::Vector<double>& r) {
  ec::Vector<double> z = r.clone();
  const auto n = L.rows();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) z[i] -= L.at(i, j) * z[j];
  }
  const int b = U.block();
  for (std::int64_t p = n / b; p-- > 0;) {
    std::vector<double> rhs(static_cast<std::size_t>(b)), block(static_cast<std::size_t>(b) * b);
    for (int c = 0; c < b; ++c) {
      rhs[static_cast<std::size_t>(c)] = z[p * b + c];
      for (std::int64_t j = (p + 1) * b; j < n; ++j) rhs[static_cast<std::size_t>(c)] -= U.at(p * b + c, j) * z[j];
      for (int d = 0; d < b; ++d) block[static_cast<std::size_t>(d * b + c)] = U.at(p * b + c, p * b + d);
    }
    std::vector<int> swaps(static_cast<std::size_t>(b));
    ec::invert<0>(b, block.data(), swaps.data());
    for (int c = 0; c < b; ++c) {
      double sum = 0;
      for (int d = 0; d < b; ++d) sum += block[static_cast<std::size_t>(d * b + c)] * rhs[static_cast<std::size_t>(d)];
      z[p * b + c] = sum;
    }
  }
  return z;
}

TEST(NarrowFactors, AreTheRoundedFactorsAndAreSweptExactly) {
  for (const auto& name : {"star7", "star13", "box27", "star5"}) {
    for (const int dof : {1, 2, 3, 5, 8}) {
      const auto A = ec::problems::random({11, 4, name == std::string("star5") ? 1 : 3}, ec::stencils::named(name), dof, 7);
      const auto wide = ec::ilu(A);
      const ec::Vector<double> r(A.rows(), 1.0);
      for (const Stored stored : {Stored::fp32, Stored::bf16, Stored::fp16}) {
        const auto M = ec::ilu(A, {.precision = stored});
        ASSERT_TRUE(M.report().ok);
        ASSERT_EQ(M.report().precision, ec::word(stored)) << name << " dof " << dof;
        const auto L = M.lower(), exact = wide.lower();
        for (std::int64_t e = 0; e < static_cast<std::int64_t>(exact.values().size()); ++e) {
          const double a = exact.values()[static_cast<std::size_t>(e)];
          ASSERT_NEAR(L.values()[static_cast<std::size_t>(e)], a, unit(stored) * std::abs(a) + 1e-7) << name;
        }
        ec::Vector<double> z(A.rows());
        M.apply(r, z);
        const auto expected = solved(L, M.upper(), r);
        for (std::int64_t i = 0; i < A.rows(); ++i) {
          ASSERT_NEAR(z[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << name << " dof " << dof << " row " << i;
        }
        EXPECT_LT(M.report().bytes, wide.report().bytes + A.rows() * 8 * dof * 8);
      }
    }
  }
}

TEST(NarrowFactors, BitsDoNotDependOnThreads) {
  const auto A = ec::problems::random({67, 20, 16}, ec::stencils::box27(), 1, 3);
  const ec::Vector<double> r(A.rows(), 1.0);
  ec::Vector<double> z(A.rows()), w(A.rows());
  ec::set_threads(1);
  ec::ilu(A, {.precision = Stored::fp32}).apply(r, z);
  ec::set_threads(3);
  ec::ilu(A, {.precision = Stored::fp32}).apply(r, w);
  ec::set_threads(0);
  EXPECT_TRUE(std::equal(z.begin(), z.end(), w.begin()));
}

TEST(NarrowFactors, AScaleThatIsNotOneDoesNotMatter) {
  // The entries of a fine grid are large; a power of two is taken out first.
  auto A = ec::problems::random({9, 8, 7}, ec::stencils::box27(), 1, 3);
  auto B = ec::problems::random({9, 8, 7}, ec::stencils::box27(), 1, 3);
  for (double& a : B.values()) a *= 0x1p60;
  const ec::Vector<double> r(A.rows(), 1.0);
  ec::Vector<double> z(A.rows()), w(A.rows());
  const auto M = ec::ilu(A, {.precision = Stored::fp16}), N = ec::ilu(B, {.precision = Stored::fp16});
  ASSERT_EQ(N.report().precision, "fp16");
  M.apply(r, z);
  N.apply(r, w);
  for (std::int64_t i = 0; i < A.rows(); ++i) EXPECT_EQ(z[i], w[i] * 0x1p60);
}

TEST(NarrowFactors, ARangeThatDoesNotSufficeIsSaid) {
  auto A = ec::problems::poisson({6, 5, 4}, ec::stencils::star7());
  for (int e = 0; e < 7; ++e) A.block(60, e)[0] *= 1e9;  // one row far from the others
  const auto M = ec::ilu(A, {.precision = Stored::fp16});
  EXPECT_TRUE(M.report().ok);
  EXPECT_EQ(M.report().precision, "fp32");
  bool said = false;
  for (const auto& remark : M.report().remarks) said = said || remark.find("leave the range of fp16") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(NarrowFactors, RefactorEqualsAFreshFactorization) {
  for (const auto& name : {"star7", "box27"}) {
    const auto A = ec::problems::random({12, 6, 5}, ec::stencils::named(name), 1, 1);
    const auto B = ec::problems::random({12, 6, 5}, ec::stencils::named(name), 1, 2);
    auto M = ec::ilu(A, {.precision = Stored::fp32});
    EXPECT_TRUE(M.refactor(B).ok);
    const ec::Vector<double> r(A.rows(), 1.0);
    ec::Vector<double> z(A.rows()), w(A.rows());
    M.apply(r, z);
    ec::ilu(B, {.precision = Stored::fp32}).apply(r, w);
    EXPECT_TRUE(std::equal(z.begin(), z.end(), w.begin()));
  }
}

TEST(NarrowFactors, BlockCsrRefusesThem) {
  const auto A = ec::to_block_csr(ec::problems::poisson({4, 4, 4}, ec::stencils::star7()));
  EXPECT_ERROR((void)ec::ilu(A, {.precision = Stored::fp32}), bad_argument, "stored in fp32");
}

TEST(NarrowFactors, TheSameIterationsAsFp64) {
  const auto A = ec::problems::poisson({40, 40, 40}, ec::stencils::star7());
  const ec::Vector<double> b(A.rows(), 1.0);
  std::int64_t iterations[2];
  for (const Stored stored : {Stored::fp64, Stored::fp32}) {
    ec::Vector<double> x(A.rows(), 0.0);
    const auto report = ec::cg(A, b, x, ec::ic(A, {.precision = stored}), {.rtol = 1e-8});
    EXPECT_TRUE(report.converged);
    iterations[stored == Stored::fp32] = report.iterations;
  }
  EXPECT_NEAR(static_cast<double>(iterations[0]), static_cast<double>(iterations[1]), 1);
}

TEST(NarrowFactors, AStagnatingSolveReturnsToFp64AndSaysSo) {
  // Exact factors (a tridiagonal matrix) that only just make it: in BF16 they are far from A⁻¹ and CG cannot go on.
  ec::StructMatrix<double> A({3000, 1, 1}, ec::Stencil({{-1, 0, 0}, {1, 0, 0}}));
  A.fill([](std::int64_t, auto, auto, int e, std::span<double> a) { a[0] = e == 1 ? 2 + 1e-9 : -1; });
  const ec::Vector<double> b(A.rows(), 1.0);
  ec::Vector<double> x(A.rows(), 0.0);
  ec::SolveRequest request;
  request.wishes.pc = "ilu";
  request.wishes.solver = "gmres";
  request.wishes.options.ilu.precision = Stored::bf16;
  request.krylov = {.rtol = 1e-8, .max_it = 20000, .restart = 2};
  const auto outcome = ec::solve_automatically(&A, b, x, request);
  EXPECT_TRUE(outcome.report.converged) << outcome.report.message;
  ASSERT_EQ(outcome.attempts.size(), 2U);
  EXPECT_EQ(outcome.report.preconditioner.precision, "fp64");
  bool said = false;
  for (const auto& remark : outcome.report.remarks) said = said || remark.find("back to fp64") != std::string::npos;
  EXPECT_TRUE(said);
}

}  // namespace
