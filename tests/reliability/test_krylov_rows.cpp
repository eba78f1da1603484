// SPDX-License-Identifier: BSD-3-Clause
// The rows "Krylov" of RELIABILITY.md, one test each, and matrices and preconditioners that lie.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/jacobi.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

const Identity<double> none;
const char* const all_solvers[] = {"cg", "gmres", "fgmres", "bicgstab"};

void expect_best_of_start(const BlockCsr<double>& A, const Vector<double>& b, const Vector<double>& x) {
  EXPECT_LE(reference::exact_residual_norm(A, b, x), reference::exact_norm(b) * (1 + 1e-12L));
}

TEST(KrylovRows, FalseConvergence) {
  // Left preconditioning by diag(1, 1e-12) makes ‖M⁻¹r‖ blind for the second row. Only b − A x may say converged.
  const auto A = reference::from_dense({{1, 0.5, 0}, {0.25, 2, 1}, {1, 0, 3}});
  const Vector<double> b{1, 1, 1};
  const FunctionPreconditioner<double> M(
      [](const Vector<double>& r, Vector<double>& z) { z[0] = r[0], z[1] = 1e-12 * r[1], z[2] = r[2]; });
  Vector<double> x(3, 0.0);
  const Report report = gmres(A, b, x, M, {.rtol = 1e-8, .side = Side::left});
  const bool reached = reference::exact_residual_norm(A, b, x) <= 1e-8L * 1.001L * reference::exact_norm(b);
  EXPECT_EQ(report.converged, reached) << report.message;
}

TEST(KrylovRows, BicgstabBreakdown) {
  // r̃'A r = 0 for r̃ = r = b: the first shadow vector breaks down, a new one does not.
  const auto A = reference::from_dense({{0, 1, 0}, {1, 0, 1}, {0, 1, 1}});
  const Vector<double> b{1, 0, 0};
  Vector<double> x(3, 0.0);
  const Report report = bicgstab(A, b, x, none);
  EXPECT_TRUE(report.converged) << report.message;
  ASSERT_GE(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("shadow vector"), std::string::npos) << report.remarks[0];
  EXPECT_GE(report.restarts, 1);
}

TEST(KrylovRows, GmresStagnation) {
  const auto A = reference::cyclic_shift(300);
  Vector<double> b(300, 0.0), x(300, 0.0);
  b[0] = 1;
  for (const char* name : {"gmres", "fgmres"}) {
    x.fill(0);
    const Report report = solve(name, A, b, x, none, {.max_it = 100000});
    EXPECT_EQ(report.reason, Reason::stagnated);
    EXPECT_LE(report.iterations, 150);
    EXPECT_NE(report.message.find("restart"), std::string::npos) << report.message;
    x.fill(0);
    EXPECT_TRUE(solve(name, A, b, x, none, {.restart = 300}).converged) << "the advice helps";
    x.fill(0);
    EXPECT_EQ(solve(name, A, b, x, none, {.max_it = 200, .stagnation_test = false}).reason, Reason::max_it);
  }
}

TEST(KrylovRows, LossOfAccuracy) {
  // A huge part of x cancels, so that the recurrence's residual and b − A x part ways.
  const auto A = reference::tridiagonal(100, -1, 2, -1);
  const Vector<double> b(100, 1.0);
  Vector<double> x(100, 0.0);
  for (std::int64_t i = 0; i < 100; ++i) x[i] = 1e9 * (i % 2 ? 1 : -1);
  const Report report = cg(A, b, x, none, {.rtol = 1e-9, .divergence = 1e30});
  EXPECT_GE(report.residual_replacements, 1);
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_LE(reference::exact_residual_norm(A, b, x), 1e-9L * 1.001L * reference::exact_norm(b));
}

TEST(KrylovRows, Divergence) {
  // BiCGStab's residual may grow without bound; with a low limit that is what it says.
  const auto A = reference::tridiagonal(60, -1.0, 0.1, 3.0);
  const Vector<double> b(60, 1.0);
  Vector<double> x(60, 0.0);
  const Report report = bicgstab(A, b, x, none, {.divergence = 2});
  EXPECT_EQ(report.reason, Reason::diverged) << report.message;
  EXPECT_NE(report.message.find("iteration"), std::string::npos);
  expect_best_of_start(A, b, x);
}

TEST(KrylovRows, OverflowNamesTheIterationAndTheQuantity) {
  const auto A = reference::tridiagonal(40, -1, 2, -1);
  const Vector<double> b(40, 1.0);
  for (const char* name : all_solvers) {
    int calls = 0;
    const FunctionOperator<double> spoiled(40, [&](const Vector<double>& in, Vector<double>& out) {
      A.apply(in, out);
      if (++calls == 5) out[7] = std::numeric_limits<double>::infinity();
    });
    Vector<double> x(40, 0.0);
    const Report report = solve(name, spoiled, b, x, none);
    EXPECT_EQ(report.reason, Reason::nan) << name;
    EXPECT_NE(report.message.find("A "), std::string::npos) << report.message;
    EXPECT_NE(report.message.find("non-finite in iteration"), std::string::npos) << report.message;
    expect_best_of_start(A, b, x);
    for (const double value : x) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(KrylovRows, NonfinitePreconditionerIsNamed) {
  const auto A = reference::tridiagonal(40, -1, 2, -1);
  const Vector<double> b(40, 1.0);
  for (const char* name : all_solvers) {
    int calls = 0;
    const FunctionPreconditioner<double> M([&](const Vector<double>& r, Vector<double>& z) {
      z.copy_from(r);
      if (++calls == 3) z[11] = std::nan("");
    });
    Vector<double> x(40, 0.0);
    const Report report = solve(name, A, b, x, M);
    EXPECT_EQ(report.reason, Reason::nan) << name;
    EXPECT_NE(report.message.find("M⁻¹"), std::string::npos) << report.message;
    expect_best_of_start(A, b, x);
  }
}

TEST(KrylovRows, StagnationOfAShortRecurrence) {
  // CG on I + skew, which it is not made for: p'Ap > 0 always, and the residual goes nowhere.
  const auto A = reference::tridiagonal(60, -3, 1, 3);
  const Vector<double> b(60, 1.0);
  Vector<double> x(60, 0.0);
  const Report report = cg(A, b, x, none, {.max_it = 100000, .divergence = 1e300});
  EXPECT_EQ(report.reason, Reason::stagnated) << word(report.reason) << ": " << report.message;
  EXPECT_LT(report.iterations, 5000);
  expect_best_of_start(A, b, x);
}

TEST(KrylovRows, SlowButSteadyProgressIsNotStagnation) {
  // 1-D Laplacian: CG's residual stays on a plateau for n/2 iterations and then falls at once.
  const auto A = reference::tridiagonal(3000, -1, 2, -1);
  Vector<double> b(3000, 0.0), x(3000, 0.0);
  b[0] = 1;
  const Report report = cg(A, b, x, none, {.max_it = 10000});
  EXPECT_TRUE(report.converged) << report.message;
  EXPECT_GE(report.iterations, 2900);
}

TEST(KrylovRows, IndefiniteMatrixGivenToCg) {
  const auto A = reference::tridiagonal(30, -1, 0.5, -1);
  const Vector<double> b(30, 1.0);
  Vector<double> x(30, 0.0);
  const Report report = cg(A, b, x, none);
  EXPECT_EQ(report.reason, Reason::indefinite_matrix);
  EXPECT_NE(report.message.find("p'Ap"), std::string::npos) << report.message;
  EXPECT_NE(report.message.find("GMRES"), std::string::npos) << report.message;
  expect_best_of_start(A, b, x);
}

TEST(KrylovRows, ExhaustedSpaceOfASingularMatrixIsABreakdown) {
  const auto A = reference::from_dense({{0, 1, 0}, {0, 0, 1}, {0, 0, 0}});
  Vector<double> x(3, 0.0);
  const Report report = gmres(A, {0, 0, 1}, x, none);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.reason, Reason::breakdown) << word(report.reason);
}

struct Liar {
  const char* name;
  std::function<void(const Vector<double>&, Vector<double>&)> apply;
};

TEST(KrylovRows, LyingPreconditionersNeverGiveAFalseConverged) {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  int calls = 0;
  const Liar liars[] = {
      {"zero", [](const Vector<double>&, Vector<double>& z) { z.fill(0); }},
      {"random",
       [&](const Vector<double>&, Vector<double>& z) {
         for (double& value : z) value = uniform(generator);
       }},
      {"nonlinear",
       [](const Vector<double>& r, Vector<double>& z) {
         for (std::int64_t i = 0; i < r.size(); ++i) z[i] = r[i] * std::fabs(r[i]) + 0.1;
       }},
      {"NaN", [](const Vector<double>&, Vector<double>& z) { z.fill(std::nan("")); }},
      {"NaN later",
       [&](const Vector<double>& r, Vector<double>& z) {
         z.copy_from(r);
         if (++calls % 6 == 0) z[0] = std::nan("");
       }},
      {"huge",
       [](const Vector<double>& r, Vector<double>& z) {
         for (std::int64_t i = 0; i < r.size(); ++i) z[i] = 1e200 * r[i];
       }},
      {"changing sign",
       [&](const Vector<double>& r, Vector<double>& z) {
         const double sign = ++calls % 2 ? 1 : -1;
         for (std::int64_t i = 0; i < r.size(); ++i) z[i] = sign * r[i];
       }},
      {"rank one", [](const Vector<double>& r, Vector<double>& z) { z.fill(r[0]); }},
  };
  const auto A = reference::tridiagonal(50, -1.2, 2.5, -0.8);
  const Vector<double> b(50, 1.0);
  for (const Liar& liar : liars) {
    const FunctionPreconditioner<double> M(liar.apply, liar.name);
    for (const char* name : all_solvers) {
      for (const Side side : {Side::right, Side::left}) {
        if (side == Side::left && std::string(name) != "gmres") continue;
        SCOPED_TRACE(testing::Message() << name << " with M " << liar.name);
        Vector<double> x(50, 0.0);
        const Report report = solve(name, A, b, x, M, {.max_it = 2000, .restart = 20, .side = side});
        if (report.converged) {
          EXPECT_LE(reference::exact_residual_norm(A, b, x), 1e-8L * 1.001L * reference::exact_norm(b));
        } else {
          expect_best_of_start(A, b, x);
        }
        if (std::string(liar.name) == "zero" || std::string(liar.name) == "NaN") {
          EXPECT_FALSE(report.converged);
        }
      }
    }
  }
}

TEST(KrylovRows, AMatrixThatLiesNeverGivesAFalseConverged) {
  // Its product changes from call to call; judged is what the last recomputation saw, so it must not settle by luck.
  std::mt19937_64 generator(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const FunctionOperator<double> A(20, [&](const Vector<double>&, Vector<double>& y) {
    for (double& value : y) value = uniform(generator);
  });
  const Vector<double> b(20, 1.0);
  for (const char* name : all_solvers) {
    Vector<double> x(20, 0.0);
    const Report report = solve(name, A, b, x, none, {.max_it = 500});
    EXPECT_FALSE(report.converged) << name;
  }
}

}  // namespace
}  // namespace echelon
