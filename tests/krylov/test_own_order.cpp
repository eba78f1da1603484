// SPDX-License-Identifier: BSD-3-Clause
// Solvers on a matrix that keeps vectors in an order of its own, with padding (a TileMatrix on the host): b and x stay
// natural, iterations and answers are those of user order up to the order of sums, refusals name the user's sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "echelon/base/error.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/matrix/grid_gpu/tile_matrix.hpp"
#include "echelon/precond/ilu_gpu/device_ilu.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/solve/device_precond.hpp"
#include "tests/expect_error.hpp"

namespace echelon {
namespace {

using V = Vector<double>;

class OwnOrder : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Krylov, OwnOrder, testing::Values("cg", "gmres", "fgmres", "bicgstab"),
                         [](const auto& each) { return std::string(each.param); });

/// The host's ILU for vectors in the matrix' own order.
FunctionPreconditioner<double> in_order_of(const TileMatrix& A, const Ilu<double>& M) {
  return FunctionPreconditioner<double>([&](const V& r, V& z) {
    V natural_r(A.rows()), natural_z(A.rows());
    A.give_back(r, natural_r);
    M.apply(natural_r, natural_z);
    A.keep(natural_z, z);
  });
}

TEST_P(OwnOrder, SolvesAsInNaturalOrder) {
  const auto A = problems::poisson({13, 19, 17}, stencils::star7());
  const TileMatrix tiles(A, 0, Device::host());
  ASSERT_GT(tiles.kept_size(), tiles.rows());
  const Ilu<double> M = ilu(A);
  V b(A.rows()), x(A.rows(), 0.0), other(A.rows(), 0.0);
  for (std::int64_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i));
  KrylovOptions options;
  options.cg_form = CgForm::plain;
  options.product = Product::full;
  options.restart = 12;
  const Report natural = solve(GetParam(), A, b, x, M, options);
  const Report own = solve(GetParam(), tiles, b, other, in_order_of(tiles, M), options);
  EXPECT_TRUE(own.converged) << own.message;
  EXPECT_EQ(own.reason, natural.reason);
  EXPECT_LE(std::abs(own.iterations - natural.iterations), 1);
  EXPECT_EQ(own.transfers.copies, 0);
  EXPECT_EQ(own.transfers.waits, 0);
  for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_NEAR(other[i], x[i], 1e-6) << i;
  V r(A.rows());
  A.careful_residual(b, other, r);
  double square = 0, of_b = 0;
  for (std::int64_t i = 0; i < r.size(); ++i) square += r[i] * r[i], of_b += b[i] * b[i];
  EXPECT_NEAR(std::sqrt(square / of_b), own.relative_residual, 1e-12);
}

TEST_P(OwnOrder, KeepsTheNullSpaceOutAndStartsFromX) {
  const auto A = problems::poisson({7, 8, 9}, stencils::star7());
  const TileMatrix tiles(A, 0, Device::host());
  const Identity<double> none;
  V answer(A.rows(), 1.0), b(A.rows());
  A.apply(answer, b);
  const Report there = solve(GetParam(), tiles, b, answer, none);
  EXPECT_EQ(there.iterations, 0);
  EXPECT_TRUE(there.converged);
  for (const double value : answer) ASSERT_EQ(value, 1);
  V zero(A.rows(), 0.0), x(A.rows(), 3.0);
  EXPECT_TRUE(solve(GetParam(), tiles, zero, x, none).converged);
  for (const double value : x) ASSERT_EQ(value, 0);
}

TEST_P(OwnOrder, NamesTheUsersSizes) {
  const auto A = problems::poisson({3, 3, 3}, stencils::star7());
  const TileMatrix tiles(A, 0, Device::host());
  const Identity<double> none;
  V b(26, 1.0), x(27, 0.0);
  EXPECT_ERROR((void)solve(GetParam(), tiles, b, x, none), size_mismatch, "26");
  V bad(27, 1.0);
  bad[5] = std::nan("");
  EXPECT_ERROR((void)solve(GetParam(), tiles, bad, x, none), nonfinite_value, "element 5");
}

TEST(HostOnly, SaysWhyAGpuCannot) {
  const Stencil star = stencils::star7();
  AutoChoice choice;
  choice.pc = "ilu";
  EXPECT_EQ(host_only(choice, star), "");
  choice.pc = "none";
  EXPECT_EQ(host_only(choice, star), "");
  choice.pc = "jacobi";
  EXPECT_NE(host_only(choice, star).find("jacobi"), std::string::npos);
  choice.pc = "ic";
  choice.options.ilu.fill = 100;
  EXPECT_NE(host_only(choice, star).find("thousand"), std::string::npos);
  choice.options.ilu.fill = 0;
  choice.options.ilu.schedule = SweepSchedule::levels;
  EXPECT_NE(host_only(choice, star).find("schedule"), std::string::npos);
}

TEST(HostOnly, BlockCsrTakesOrdersIterationsAndMostSchedules) {
  AutoChoice choice;
  choice.pc = "ilu";
  for (const auto method : {Trisolve::jacobi, Trisolve::neumann, Trisolve::automatic}) {
    choice.options.ilu.trisolve.method = method;
    EXPECT_EQ(host_only(choice), "");
  }
  choice.options.ilu.trisolve = {};
  choice.options.ilu.ordering = Ordering::rcm;
  choice.options.ilu.fill = 100;
  for (const auto schedule : {SweepSchedule::automatic, SweepSchedule::sequential, SweepSchedule::levels}) {
    choice.options.ilu.schedule = schedule;
    EXPECT_EQ(host_only(choice), "");
  }
  choice.options.ilu.schedule = SweepSchedule::point_to_point;
  EXPECT_NE(host_only(choice).find("schedule"), std::string::npos);
  choice.pc = "none";
  EXPECT_EQ(host_only(choice), "");
  choice.pc = "jacobi";
  EXPECT_NE(host_only(choice).find("jacobi"), std::string::npos);
  choice.options.ilu.schedule = SweepSchedule::automatic;
  choice.pc = "ilut";
  EXPECT_EQ(host_only(choice), "");
  choice.pc = "ilu";
  choice.options.ilu.schedule = SweepSchedule::point_to_point;
  choice.options.match_rows = true;
  EXPECT_NE(host_only(choice).find("schedule"), std::string::npos);
  choice.options.ilu.schedule = SweepSchedule::automatic;
  EXPECT_EQ(host_only(choice), "");
}

TEST(HostOnly, WhatLeavesTheGridTakesBlockCsr) {
  const Stencil star = stencils::star7();
  const auto made = [](const char* pc, const IluOptions& options = {}) {
    AutoChoice choice;
    choice.pc = pc;
    choice.options.ilu = options;
    return choice;
  };
  std::vector<AutoChoice> leaving;
  for (const char* pc : {"ilut", "parilu", "parilut", "mcilu"}) leaving.push_back(made(pc));
  for (const char* pc : {"ilu", "ic"}) {
    leaving.push_back(made(pc, {.ordering = Ordering::rcm}));
    leaving.push_back(made(pc, {.ordering = Ordering::colours}));
    leaving.push_back(made(pc, {.trisolve = {.method = Trisolve::jacobi}}));
  }
  leaving.push_back(made("ilu"));
  leaving.back().options.match_rows = true;
  for (AutoChoice& choice : leaving) {
    SCOPED_TRACE(choice.name());
    EXPECT_TRUE(leaves_grid(choice));
    EXPECT_EQ(host_only(choice), "");
    EXPECT_EQ(host_only(choice, star), "");
    choice.options.ilu.schedule = SweepSchedule::levels;
    EXPECT_EQ(host_only(choice, star), "");
    choice.options.ilu.scale_matrix = true;
    EXPECT_NE(host_only(choice), "");
    EXPECT_NE(host_only(choice, star), "");
  }
  for (const char* pc : {"none", "jacobi", "ilu", "ic"}) EXPECT_FALSE(leaves_grid(made(pc))) << pc;
}

TEST(HostOnly, AnIluForAGpuWantsItsMatrixThere) {
  const auto A = problems::poisson({3, 3, 3}, stencils::star7());
  const TileMatrix tiles(A, 0, Device::host());
  EXPECT_ERROR(DeviceIlu(tiles, {}), bad_argument, "host");
}

}  // namespace
}  // namespace echelon
