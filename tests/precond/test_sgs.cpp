// SPDX-License-Identifier: BSD-3-Clause
// Symmetric Gauss-Seidel and SSOR as preconditioners: by hand, against the textbook's sweeps, as a product of triangles, the
// same on a grid and in block CSR, and what happens to a diagonal that cannot be inverted.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>

#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/grid/gauss_seidel.hpp"
#include "echelon/sweep/shared_triangles.hpp"
#include "tests/expect_error.hpp"

namespace ec = echelon;
namespace {

using Matrix = ec::StructMatrix<double>;

ec::Vector<double> wavy(std::int64_t n) {
  ec::Vector<double> r(n);
  for (std::int64_t i = 0; i < n; ++i) r[i] = std::sin(1.7 * static_cast<double>(i) + 0.5);
  return r;
}

ec::Vector<double> applied(const ec::Preconditioner<double>& M, std::int64_t n) {
  ec::Vector<double> z(n);
  M.apply(wavy(n), z);
  return z;
}

bool same(const ec::Vector<double>& a, const ec::Vector<double>& b) { return std::ranges::equal(a, b); }

TEST(Sgs, TwoPointsByHand) {
  // ⎡4 2⎤: L D⁻¹ = ¼, U = ⎡4 2⎤;  r = (4, 7): y = (4, 6), x₁ = 2, x₀ = (4 − 4)/4 = 0
  // ⎣1 3⎦                 ⎣  3⎦
  Matrix A({2, 1, 1}, ec::Stencil({{-1, 0, 0}, {1, 0, 0}}));
  A.fill([](std::int64_t i, auto, auto, int e, std::span<double> a) { a[0] = e == 0 ? 1 : e == 2 ? 2 : i == 0 ? 4 : 3; });
  for (const auto& M : {ec::sgs(A), ec::sgs(ec::to_block_csr(A))}) {
    EXPECT_TRUE(M.report().ok);
    EXPECT_EQ(M.report().name, "sgs");
    EXPECT_EQ(M.report().omega, 1);
    EXPECT_EQ(M.lower().at(1, 0), 0.25);
    EXPECT_EQ(M.upper().at(0, 1), 2);
    EXPECT_EQ(M.upper().at(1, 1), 3);
    ec::Vector<double> z(2);
    M.apply({4, 7}, z);
    EXPECT_EQ(z[0], 0);
    EXPECT_EQ(z[1], 2);
  }
}

TEST(Sgs, IsTheTextbooksForwardAndBackwardSweep) {
  const auto A = ec::problems::random({7, 5, 4}, ec::stencils::box27(), 1, 3);
  const auto B = ec::to_block_csr(A);
  const std::int64_t n = A.rows();
  const auto r = wavy(n);
  for (const double omega : {0.5, 1.0, 1.7}) {
    ec::Vector<double> x(n, 0.0);
    const auto relax = [&](std::int64_t p) {
      double sum = r[p];
      for (std::int64_t e = B.row_start()[p]; e < B.row_start()[p + 1]; ++e) sum -= B.values()[e] * x[B.column()[e]];
      x[p] += omega * sum / B.at(p, p);
    };
    for (std::int64_t p = 0; p < n; ++p) relax(p);
    for (std::int64_t p = n - 1; p >= 0; --p) relax(p);
    for (const auto& M : {ec::sgs(A, omega), ec::sgs(B, omega)}) {
      const auto z = applied(M, n);
      for (std::int64_t p = 0; p < n; ++p) ASSERT_NEAR(z[p], x[p], 1e-12) << omega;
    }
  }
  ec::Vector<double> half(n), x(n);
  ec::GaussSeidel<double>(A).from_zero(r, half, x);
  const auto z = applied(ec::sgs(A), n);
  for (std::int64_t p = 0; p < n; ++p) ASSERT_NEAR(z[p], x[p], 1e-13) << "sweep/grid/gauss_seidel";
}

TEST(Sgs, ProductOfTheTrianglesIsTheFormula) {
  for (const int dof : {1, 2, 3}) {
    const auto A = ec::problems::random({4, 3, 2}, ec::stencils::star7(), dof, 9);
    const auto B = ec::to_block_csr(A);
    const std::int64_t n = B.rows();
    for (const double omega : {1.0, 1.3}) {
      const auto M = ec::sgs(A, omega), N = ec::sgs(B, omega);
      for (const auto* one : {&M, &N}) {
        const auto L = one->lower(), U = one->upper();
        ec::Vector<double> e(n), z(n);
        for (std::int64_t column = 0; column < n; ++column) {
          // (D/ω + L)(D/ω)⁻¹(D/ω + U) / (2 − ω), column by column: M⁻¹ undoes it.
          ec::Vector<double> m(n, 0.0), v(n, 0.0);
          for (std::int64_t row = 0; row < n; ++row) v[row] = U.at(row, column);
          for (std::int64_t row = 0; row < n; ++row) {
            m[row] = v[row];
            for (std::int64_t k = 0; k < n; ++k) m[row] += L.at(row, k) * v[k];
          }
          one->apply(m, z);
          for (std::int64_t row = 0; row < n; ++row) ASSERT_NEAR(z[row], row == column ? 1 : 0, 1e-11) << "dof " << dof;
        }
        for (std::int64_t row = 0; row < n; ++row) {
          for (std::int64_t column = 0; column < n; ++column) {
            const bool own = row / dof == column / dof;
            const double a = B.at(row, column);
            if (own || column > row) {
              ASSERT_NEAR(U.at(row, column), (own ? a / omega : a) / (2 - omega), 1e-13);
            } else {
              double product = 0;  // (L D⁻¹)(D/ω) is A's block
              for (int c = 0; c < dof; ++c) {
                const std::int64_t k = column / dof * dof + c;
                product += L.at(row, k) * B.at(k, column) / omega;
              }
              ASSERT_NEAR(product, a, 1e-12);
            }
          }
        }
      }
    }
  }
}

TEST(Sgs, OnAGridHasTheBitsOfBlockCsr) {
  for (const auto& name : ec::stencils::names()) {
    for (const int dof : {1, 2, 3, 5, 8, 11}) {
      for (const ec::Grid grid : {ec::Grid{19, 4, 3}, ec::Grid{1, 6, 2}, ec::Grid{16, 1, 1}}) {
        const auto A = ec::problems::random(grid, ec::stencils::named(name), dof, 5);
        const auto M = ec::sgs(A), N = ec::sgs(ec::to_block_csr(A)),
                   P = ec::sgs(A, 1, {.schedule = ec::SweepSchedule::sequential});
        ASSERT_TRUE(same(applied(M, A.rows()), applied(N, A.rows()))) << name << " dof " << dof;
        ASSERT_TRUE(same(applied(M, A.rows()), applied(P, A.rows()))) << name << " dof " << dof;
        ASSERT_TRUE(std::ranges::equal(M.lower().values(), N.lower().values())) << name << " dof " << dof;
      }
    }
  }
}

TEST(Sgs, HasTheSameBitsForEveryThreadCount) {
  const auto A = ec::problems::random({60, 50, 20}, ec::stencils::box27(), 1, 5);
  const auto B = ec::to_block_csr(ec::problems::random({20, 20, 20}, ec::stencils::star7(), 3, 5));
  ec::set_threads(1);
  const auto grid = applied(ec::sgs(A, 1.2), A.rows()), rows = applied(ec::sgs(B, 1.2), B.rows());
  for (const int threads : {2, 3, 4}) {
    ec::set_threads(threads);
    EXPECT_TRUE(same(applied(ec::sgs(A, 1.2), A.rows()), grid)) << threads;
    EXPECT_TRUE(same(applied(ec::sgs(B, 1.2), B.rows()), rows)) << threads;
  }
  ec::set_threads(0);
}

TEST(Sgs, EveryInstructionSetGivesTheSameBits) {
  for (const char* name : {"box27", "diamond25"}) {
    for (const ec::Grid grid : {ec::Grid{41, 6, 4}, ec::Grid{16, 5, 3}, ec::Grid{3, 3, 3}}) {
      const auto A = ec::problems::random(grid, ec::stencils::named(name), 1, 5);
      const auto want = applied(ec::sgs(A), A.rows());
      for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        const auto M = ec::sgs(A);
        EXPECT_EQ(M.report().kernel, "packs, b=1");
        EXPECT_TRUE(same(applied(M, A.rows()), want)) << name << " on " << hwy::TargetName(target);
      }
      hwy::SetSupportedTargetsForTest(0);
    }
  }
}

std::int64_t iterations(const ec::MatrixRef& A, const ec::PrecondOptions& options, const std::string& solver = "cg") {
  const auto& op = ec::as_operator(A);
  const auto M = ec::make_preconditioner("sgs", A, options);
  ec::Vector<double> b(op.rows(), 1.0), x(op.rows(), 0.0);
  const auto report = ec::solve(solver, op, b, x, *M, {});
  EXPECT_TRUE(report.converged);
  return report.iterations;
}

TEST(Sgs, ByNameTakesTheSameIterationsOnAGridAndInBlockCsr) {
  for (const char* name : {"star7", "box27"}) {
    const auto A = ec::problems::poisson({30, 24, 20}, ec::stencils::named(name));
    const auto B = ec::to_block_csr(A);
    const auto plain = iterations(&B, {});
    EXPECT_EQ(iterations(&A, {}), plain);
    for (const double omega : {0.8, 1.5}) {
      EXPECT_EQ(iterations(&A, {.ilu = {.omega = omega}}), iterations(&B, {.ilu = {.omega = omega}})) << name << omega;
    }
    EXPECT_LT(iterations(&A, {.ilu = {.omega = 1.6}}), plain) << "the model problem's ω is above 1";
    // Another order leaves the grid.
    EXPECT_EQ(iterations(&A, {.ilu = {.ordering = ec::Ordering::colours}}),
              iterations(&B, {.ilu = {.ordering = ec::Ordering::colours}}));
  }
  const auto blocks = ec::problems::random({8, 8, 8}, ec::stencils::star7(), 3, 1);
  const auto rows = ec::to_block_csr(blocks);
  EXPECT_EQ(iterations(&blocks, {}, "gmres"), iterations(&rows, {}, "gmres"));
}

TEST(Sgs, SharesItsTrianglesWithCg) {
  const auto A = ec::problems::poisson({20, 20, 20}, ec::stencils::box27());
  EXPECT_NE(ec::sgs(A).shared_triangles(A), nullptr);
  EXPECT_EQ(ec::sgs(A, 1.2).shared_triangles(A), nullptr);
  ec::Vector<double> b(A.rows(), 1.0), x(A.rows(), 0.0), y(A.rows(), 0.0);
  const auto M = ec::sgs(A);
  const auto plain = ec::cg(A, b, x, M, {.cg_form = ec::CgForm::plain});
  const auto shared = ec::cg(A, b, y, M, {.cg_form = ec::CgForm::eisenstat});
  EXPECT_TRUE(shared.converged);
  EXPECT_NEAR(static_cast<double>(shared.iterations), static_cast<double>(plain.iterations), 1);
  for (std::int64_t i = 0; i < A.rows(); ++i) ASSERT_NEAR(x[i], y[i], 1e-5 * std::abs(x[i]));
}

TEST(Sgs, ABadDiagonalGoesByThePolicyOfPivots) {
  for (const int dof : {1, 2}) {
    auto A = ec::problems::random({5, 4, 3}, ec::stencils::star7(), dof, 21);
    std::ranges::fill(A.block(17, A.stencil().center()), 0.0);
    const auto B = ec::to_block_csr(A);
    for (const auto& M : {ec::sgs(A), ec::sgs(B)}) {
      EXPECT_TRUE(M.report().ok);
      EXPECT_EQ(M.report().perturbed_pivots, 1);
      ASSERT_EQ(M.report().bad_pivots.size(), 1U);
      EXPECT_EQ(M.report().bad_pivots[0].row, 17 * dof);
      EXPECT_EQ(M.report().bad_pivots[0].kind, ec::PivotNote::Kind::zero);
    }
    EXPECT_TRUE(same(applied(ec::sgs(A), A.rows()), applied(ec::sgs(B), A.rows())));
    for (const auto& M :
         {ec::sgs(A, 1, {.shift = ec::ShiftPolicy::none}), ec::sgs(B, 1, {.shift = ec::ShiftPolicy::none})}) {
      EXPECT_FALSE(M.report().ok);
      EXPECT_NE(M.report().message.find("SSOR(1)"), std::string::npos) << M.report().message;
      ec::Vector<double> z(A.rows());
      EXPECT_ERROR(M.apply(wavy(A.rows()), z), bad_argument, "failed");
    }
    const ec::IluOptions shifted{.shift = ec::ShiftPolicy::value, .shift_value = 0.5};
    EXPECT_TRUE(same(applied(ec::sgs(A, 1, shifted), A.rows()), applied(ec::sgs(B, 1, shifted), A.rows())));
    A.block(3, A.stencil().center())[0] = std::numeric_limits<double>::quiet_NaN();
    for (const auto& M : {ec::sgs(A), ec::sgs(ec::to_block_csr(A))}) {
      EXPECT_FALSE(M.report().ok);
      EXPECT_EQ(M.report().bad_pivots[0].kind, ec::PivotNote::Kind::nonfinite_input);
    }
  }
  // A row without a diagonal entry: inserted as zero, then a bad pivot.
  const std::vector<ec::Triplet<double>> triplets = {{0, 0, 2.0}, {0, 1, 1.0}, {1, 0, 1.0}};
  const auto M = ec::sgs(ec::from_triplets<double>(2, 2, triplets));
  EXPECT_EQ(M.report().missing_diagonals, 1);
  EXPECT_EQ(M.report().perturbed_pivots, 1);
}

TEST(Sgs, NewValuesAreThoseOfANewOne) {
  const ec::Grid grid{9, 8, 7};
  const auto A = ec::problems::random(grid, ec::stencils::box27(), 1, 1),
             B = ec::problems::random(grid, ec::stencils::box27(), 1, 2);
  auto M = ec::sgs(A, 1.1);
  EXPECT_TRUE(M.refactor(B).ok);
  EXPECT_TRUE(same(applied(M, A.rows()), applied(ec::sgs(B, 1.1), A.rows())));
  auto N = ec::sgs(ec::to_block_csr(A), 1.1);
  EXPECT_TRUE(N.refactor(ec::to_block_csr(B)).ok);
  EXPECT_TRUE(same(applied(N, A.rows()), applied(ec::sgs(ec::to_block_csr(B), 1.1), A.rows())));
}

TEST(Sgs, KeepsItsTrianglesNarrowWhereAsked) {
  const auto A = ec::problems::poisson({20, 20, 20}, ec::stencils::star7());
  const auto M = ec::sgs(A, 1, {.precision = ec::Stored::fp32});
  EXPECT_EQ(M.report().precision, "fp32");
  const auto z = applied(M, A.rows()), want = applied(ec::sgs(A), A.rows());
  for (std::int64_t i = 0; i < A.rows(); ++i) ASSERT_NEAR(z[i], want[i], 1e-5);
}

TEST(Sgs, BadInputIsRefused) {
  const auto A = ec::problems::poisson({4, 4, 4}, ec::stencils::star7());
  const auto B = ec::to_block_csr(A);
  for (const double omega : {0.0, -1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_ERROR((void)ec::sgs(A, omega), bad_argument, "between 0 and 2");
    EXPECT_ERROR((void)ec::sgs(B, omega), bad_argument, "between 0 and 2");
  }
  EXPECT_ERROR((void)ec::sgs(A, 1, {.fill = 1}), bad_argument, "no fill");
  EXPECT_ERROR((void)ec::sgs(B, 1, {.factor_sweeps = 3}), bad_argument, "no fixed-point sweeps");
  EXPECT_ERROR((void)ec::ilut(B, {.omega = 1}), bad_argument, "ILUT eliminates");
  EXPECT_ERROR((void)ec::ic(A, {.omega = 1}), bad_argument, "IC eliminates");
  EXPECT_ERROR((void)ec::ic(B, {.omega = 1}), bad_argument, "IC eliminates");
}

}  // namespace
