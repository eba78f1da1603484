// SPDX-License-Identifier: BSD-3-Clause
// What a whole solve on a grid takes at its fullest: matrix + factor + (restart + 6) vectors, b and x among them, and little
// else. Counted from before the matrix is assembled: bytes of Arrays (base/array.hpp) and of `operator new`, each at its own
// peak. "Little else": schedules (a group of lines has three counters of a cache line and a few waits), partial sums (one a
// 4096 rows and column), the history, Hessenberg matrices, threads' scratch. Less than a quarter of a vector at these sizes.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/counted_new.hpp"

namespace echelon {
namespace {

struct Case {
  std::string name;
  std::function<StructMatrix<double>()> matrix;
  bool positive = false;
  std::string solver = "gmres";
  KrylovOptions krylov = {};
  IluOptions ilu = {};
  /// Planes of the factor: one where it shares A's triangles, otherwise one an entry of its stencil. In FP64 ones. Wide
  /// stencils are kept twice: as planes, for the next factorization, and in packs, which the sweeps read.
  double factor_planes = 1;
  /// Vectors of the basis, in FP64 ones. CG has one direction.
  double basis = 1;
};

/// Bytes left between two planes of a factor, so that they do not meet in the cache: at most 38 cache lines.
constexpr double gap = 38 * 64;

void expect_within_memory(const Case& c) {
  SCOPED_TRACE(c.name);
  const std::int64_t arrays_before = live_bytes();
  const long news_before = new_live_bytes.load();
  restart_peak_bytes();
  new_peak_bytes.store(news_before);
  std::int64_t plane = 0, vector = 0, matrix = 0;
  {
    const auto A = c.matrix();
    vector = A.rows() * 8;
    plane = A.grid().points() * A.dof() * A.dof() * 8;
    matrix = plane * A.stencil().size();
    const auto M = c.positive ? ic(A, c.ilu) : ilu(A, c.ilu);
    const Vector<double> b(A.rows(), 1.0);
    Vector<double> x(A.rows(), 0.0);
    const Report report = solve(c.solver, A, b, x, M, c.krylov);
    EXPECT_TRUE(report.converged) << report.message;
    // The basis was used to its end, or there is nothing to say about it.
    if (c.basis > 1) {
      EXPECT_GE(report.iterations, c.krylov.restart);
    }
  }
  EXPECT_EQ(live_bytes(), arrays_before);
  const double taken = static_cast<double>(peak_bytes() - arrays_before + new_peak_bytes.load() - news_before);
  const double factor = c.factor_planes * static_cast<double>(plane), row = static_cast<double>(vector);
  const double named = static_cast<double>(matrix) + factor + (c.basis + 6) * row;
  EXPECT_LE(taken, named + 0.25 * row + c.factor_planes * gap)
      << "beyond what is named: " << (taken - named) / row << " vectors";
  // Fewer would mean that the count missed some.
  EXPECT_GE(taken, named - 0.25 * row) << "below what is named: " << (named - taken) / row << " vectors";
  testing::Test::RecordProperty(c.name, std::to_string((taken - named) / row));
}

const Grid cube{40, 40, 40};
StructMatrix<double> poisson() { return problems::poisson(cube, stencils::star7()); }
StructMatrix<double> flow() { return problems::convection_diffusion(cube, stencils::star7(), {.peclet = 200}); }
StructMatrix<double> box() { return problems::poisson(cube, stencils::box27()); }
StructMatrix<double> navier_stokes() { return problems::navier_stokes({20, 20, 20}, {.step = {.cfl = 20}}); }
StructMatrix<double> euler() { return problems::euler({24, 24, 24}, {.step = {.cfl = 20}}); }

const Case cases[] = {
    {.name = "cg_eisenstat_star7", .matrix = poisson, .positive = true, .solver = "cg"},
    {.name = "cg_plain_star7", .matrix = poisson, .positive = true, .solver = "cg", .krylov = {.cg_form = CgForm::plain}},
    {.name = "cg_box27", .matrix = box, .positive = true, .solver = "cg", .factor_planes = 54},
    {.name = "gmres20_half_product", .matrix = flow, .krylov = {.restart = 20}, .basis = 20},
    {.name = "gmres20_whole_product", .matrix = flow, .krylov = {.restart = 20, .product = Product::full}, .basis = 20},
    {.name = "gmres20_left", .matrix = flow, .krylov = {.restart = 20, .side = Side::left}, .basis = 20},
    {.name = "gmres20_fp32_basis", .matrix = flow, .krylov = {.restart = 20, .basis = BasisPrecision::fp32}, .basis = 10},
    {.name = "fgmres10", .matrix = flow, .solver = "fgmres", .krylov = {.restart = 10}, .basis = 20},
    {.name = "gmres10_box27", .matrix = box, .krylov = {.restart = 10}, .factor_planes = 54, .basis = 10},
    {.name = "gmres10_fp32_factors",
     .matrix = flow,
     .krylov = {.restart = 10},
     .ilu = {.precision = Stored::fp32},
     .factor_planes = 1 + 7 * 0.5,
     .basis = 10},
    {.name = "gmres10_ilu1",
     .matrix = flow,
     .krylov = {.restart = 10},
     .ilu = {.fill = 1},
     .factor_planes = 13,
     .basis = 10},
    {.name = "gmres5_navier_stokes", .matrix = navier_stokes, .krylov = {.restart = 5}, .factor_planes = 27, .basis = 5},
    {.name = "gmres8_euler", .matrix = euler, .krylov = {.restart = 8}, .factor_planes = 13, .basis = 8},
};

TEST(SolverMemory, IsMatrixAndFactorAndRestartPlusSixVectors) {
  int turn = 0;
  for (const Case& c : cases) {
    set_threads(1 + turn++ % 2);
    expect_within_memory(c);
  }
  set_threads(0);
}

}  // namespace
}  // namespace echelon
