// SPDX-License-Identifier: BSD-3-Clause
// A M⁻¹ v by half a product behind the sweeps: equal to the whole one to rounding on stencils of any reach whose ILU(0)
// changes only the diagonal, the same bits for every thread count, and GMRES with it iterates as without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/shared_triangles.hpp"
#include "tests/counted_new.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

using reference::waves;

const Grid grids[] = {{1, 1, 1}, {7, 1, 1}, {3, 2, 1}, {8, 8, 8}, {17, 9, 5}, {33, 13, 20}, {16, 30, 12}, {70, 33, 1}};

/// Stencils without a product beside the diagonal, of different reach.
const Stencil stencil_list[] = {stencils::star7(), Stencil({{-3, 0, 0}, {3, 0, 0}}),
                                Stencil({{-2, 0, 0}, {0, -5, 0}, {0, 0, -2}, {2, 0, 0}, {0, 5, 0}, {0, 0, 2}}),
                                Stencil({{4, -1, 0}, {0, 0, -1}, {-4, 1, 0}, {0, 0, 1}}), Stencil({{0, 0, -3}, {1, 0, 0}})};

TEST(HalfProduct, EqualsTheWholeOneToRounding) {
  int compared = 0;
  for (const Stencil& stencil : stencil_list) {
    for (const Grid& grid : grids) {
      const auto A = problems::random(grid, stencil, 1, 7);
      for (const int count : {1, 2, 3}) {
        set_threads(count);
        const auto M = ilu(A);
        const auto shared = M.shared_triangles(A);
        ASSERT_NE(shared, nullptr);
        const auto v = waves(A.rows());
        Vector<double> z(A.rows()), w(A.rows()), plain_z(A.rows()), plain_w(A.rows());
        shared->precondition_and_multiply(v, z, w);
        M.apply(v, plain_z);
        A.apply(plain_z, plain_w);
        for (std::int64_t i = 0; i < z.size(); ++i) {
          ASSERT_EQ(z[i], plain_z[i]) << "row " << i;
          // Rows have entries below 2·size; what cancels in D_A − D is of that size too.
          ASSERT_NEAR(w[i], plain_w[i], 1e-13) << "row " << i << ", " << count << " threads";
        }
        ++compared;
      }
    }
  }
  set_threads(0);
  EXPECT_EQ(compared, 8 * 5 * 3);
}

TEST(HalfProduct, SameBitsForEveryThreadCount) {
  const auto A = problems::random({40, 50, 40}, stencils::star7(), 1, 3);
  const auto v = waves(A.rows());
  Vector<double> first;
  for (const int count : {1, 2, 3, 2}) {
    set_threads(count);
    const auto M = ilu(A);
    Vector<double> z(A.rows()), w(A.rows());
    const auto shared = M.shared_triangles(A);
    for (int repeat = 0; repeat < 3; ++repeat) shared->precondition_and_multiply(v, z, w);
    if (first.empty()) first = w.clone();
    for (std::int64_t i = 0; i < w.size(); ++i) ASSERT_EQ(w[i], first[i]) << count << " threads, row " << i;
  }
  set_threads(0);
}

TEST(HalfProduct, GmresIteratesAsWithTheWholeOne) {
  const auto A = problems::convection_diffusion({24, 22, 20}, stencils::star7(), {.peclet = 50});
  const auto M = ilu(A);
  const auto b = waves(A.rows());
  for (const std::string solver : {"gmres", "fgmres"}) {
    for (const auto basis : {BasisPrecision::fp64, BasisPrecision::fp32}) {
      if (solver == "fgmres" && basis == BasisPrecision::fp32) continue;
      Vector<double> x(A.rows(), 0.0), plain_x(A.rows(), 0.0);
      const Report half = solve(solver, A, b, x, M, {.restart = 12, .basis = basis, .product = Product::half});
      const Report full = solve(solver, A, b, plain_x, M, {.restart = 12, .basis = basis, .product = Product::full});
      EXPECT_EQ(half.product, "half");
      EXPECT_EQ(full.product, "full");
      EXPECT_TRUE(half.converged) << half.message;
      EXPECT_EQ(half.iterations, full.iterations);
      EXPECT_LE(half.relative_residual, 1e-8);
      for (std::size_t k = 0; k < std::min(half.history.size(), full.history.size()); ++k) {
        EXPECT_NEAR(half.history[k] / full.history[k], 1, basis == BasisPrecision::fp64 ? 1e-6 : 1e-2) << "iteration " << k;
      }
    }
  }
}

TEST(HalfProduct, WhatCannotHaveItSaysSo) {
  const auto A = problems::convection_diffusion({9, 8, 7}, stencils::star7());
  const auto box = problems::poisson({9, 8, 7}, stencils::box27());
  const auto b = waves(A.rows());
  Vector<double> x(A.rows(), 0.0);
  const auto M = ilu(A);
  EXPECT_EQ(gmres(box, b, x, ilu(box)).product, "full");
  x.fill(0);
  EXPECT_THROW((void)gmres(box, b, x, ilu(box), {.product = Product::half}), Error);
  EXPECT_THROW((void)gmres(A, b, x, M, {.side = Side::left, .product = Product::half}), Error);
  EXPECT_THROW((void)fgmres(A, b, x, M, {.basis = BasisPrecision::fp32, .product = Product::half}), Error);
  EXPECT_EQ(gmres(A, b, x, M, {.side = Side::left}).product, "full");
}

TEST(HalfProduct, AllocatesNothingBetweenIterations) {
  const auto A = problems::convection_diffusion({40, 40, 24}, stencils::star7(), {.peclet = 50});
  set_threads(2);
  const auto M = ilu(A);
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  long news_then = 0;
  std::int64_t arrays_then = 0, iterations = 0;
  const auto monitor = [&](std::int64_t iteration, double) {
    if (iteration == 1) news_then = new_calls.load(), arrays_then = allocation_count();
    EXPECT_EQ(new_calls.load(), news_then) << "iteration " << iteration;
    EXPECT_EQ(allocation_count(), arrays_then) << "iteration " << iteration;
    return ++iterations, Verdict::proceed;
  };
  (void)gmres(A, b, x, M, {.rtol = 1e-12, .restart = 7, .product = Product::half, .monitor = monitor});
  set_threads(0);
  EXPECT_GT(iterations, 10);
}

}  // namespace
}  // namespace echelon
