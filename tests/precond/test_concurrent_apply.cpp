// SPDX-License-Identifier: BSD-3-Clause
// One preconditioner, and one matrix, used from eight threads at once: every kind gives each of them the bits of a call
// alone, over and over, with teams of two threads under each caller. Whole solves too. One caller allocates nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "echelon/echelon.hpp"
#include "echelon/precond/ilu/matched_ilu.hpp"
#include "echelon/precond/scaled_precond.hpp"
#include "echelon/schedule/rows/sweep_plan.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

constexpr int callers = 8, rounds = 12;
using Precond = std::unique_ptr<Preconditioner<double>>;

struct Kind {
  std::string name;
  std::function<Precond()> make;
  std::int64_t rows;
};

Vector<double> wave(std::int64_t n, int which) {
  Vector<double> r(n);
  for (std::int64_t i = 0; i < n; ++i) r[i] = std::sin(0.3 + which + 0.7 * static_cast<double>(i));
  return r;
}

bool same_bits(const Vector<double>& a, const Vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0;
}

/// body(caller) on eight threads that start together. What one throws is thrown here.
void at_once(const std::function<void(int)>& body) {
  std::barrier start(callers);
  std::vector<std::exception_ptr> thrown(callers);
  {
    std::vector<std::jthread> team;
    for (int caller = 0; caller < callers; ++caller) {
      team.emplace_back([&, caller] {
        start.arrive_and_wait();
        try {
          body(caller);
        } catch (...) {
          thrown[static_cast<std::size_t>(caller)] = std::current_exception();
        }
      });
    }
  }
  for (const auto& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

/// Each caller has a right-hand side of its own, so that one who reads what belongs to another is found out.
void expect_bits_of_one_caller(const std::function<void(const Vector<double>&, Vector<double>&)>& apply, std::int64_t n) {
  std::vector<Vector<double>> given, wanted;
  for (int caller = 0; caller < callers; ++caller) {
    given.push_back(wave(n, caller));
    wanted.emplace_back(n, 0.0);
    apply(given.back(), wanted.back());
  }
  std::atomic<int> wrong{0};
  at_once([&](int caller) {
    const auto own = static_cast<std::size_t>(caller);
    Vector<double> z(n);
    for (int round = 0; round < rounds; ++round) {
      z.fill(-1);
      apply(given[own], z);
      if (!same_bits(z, wanted[own])) ++wrong;
    }
  });
  EXPECT_EQ(wrong.load(), 0) << "of " << callers * rounds << " calls";
}

template <class Matrix>
Precond ilu_of(const Matrix& A, const IluOptions& options, Ilu<double> (*factor)(const Matrix&, const IluOptions&)) {
  return std::make_unique<Ilu<double>>(factor(A, options));
}

const Grid cube{32, 30, 20};

void add_grids(std::vector<Kind>& kinds) {
  using Factor = Ilu<double> (*)(const StructMatrix<double>&, const IluOptions&);
  const auto add = [&](const std::string& name, const Grid& grid, const Stencil& stencil, int dof, IluOptions options = {},
                       Factor factor = ilu<double>) {
    const auto make = [=] {
      const auto A = dof > 1 ? problems::random(grid, stencil, dof, 3) : problems::poisson(grid, stencil);
      return ilu_of(A, options, factor);
    };
    kinds.push_back({name, make, grid.points() * dof});
  };
  IluOptions fill, narrow, points, half;
  fill.fill = 1;
  narrow.precision = Stored::fp32;
  half.precision = Stored::bf16;
  points.schedule = SweepSchedule::sequential;
  add("grid star7", cube, stencils::star7(), 1);
  add("grid star7 IC", cube, stencils::star7(), 1, {}, ic<double>);
  add("grid star5", {180, 130, 1}, stencils::star5(), 1);
  add("grid star5 long", {3000, 9, 1}, stencils::star5(), 1);
  add("grid box27", cube, stencils::box27(), 1);
  add("grid star13 ILU(1)", cube, stencils::star7(), 1, fill);
  add("grid FP32", cube, stencils::star7(), 1, narrow);
  add("grid BF16 box", cube, stencils::box27(), 1, half);
  add("grid points", cube, stencils::star7(), 1, points);
  for (const int dof : {2, 5}) add("grid blocks of " + std::to_string(dof), {20, 18, 16}, stencils::star7(), dof);
  add("grid blocks of 4, FP32", {20, 18, 16}, stencils::star7(), 4, narrow);
  add("grid blocks of 9", {8, 9, 7}, stencils::star7(), 9);
  IluOptions colours;
  colours.ordering = Ordering::colours;
  add("grid by colours", cube, stencils::star7(), 1, colours);
}

void add_rows(std::vector<Kind>& kinds) {
  using Factor = Ilu<double> (*)(const BlockCsr<double>&, const IluOptions&);
  const auto add = [&](const std::string& name, int block, const IluOptions& options, Factor factor = ilu<double>) {
    const std::int32_t n = block > 1 ? 300 : 900;
    const auto make = [=] {
      const bool symmetric = factor == static_cast<Factor>(ic<double>) || factor == static_cast<Factor>(parict<double>);
      if (symmetric) return ilu_of(to_block_csr(problems::poisson({10, 10, 9}, stencils::star7())), options, factor);
      return ilu_of(reference::with_random_values<double>(reference::random_rows(n, 0.01, 7), block, 5), options, factor);
    };
    kinds.push_back({name, make, std::int64_t{n} * block});
  };
  for (const auto schedule : {SweepSchedule::sequential, SweepSchedule::levels, SweepSchedule::point_to_point}) {
    IluOptions options;
    options.schedule = schedule;
    const std::string by = std::string(" by ") + word(schedule);
    for (const int block : {1, 3, 9}) add("rows in blocks of " + std::to_string(block) + by, block, options);
    IluOptions ordered = options;
    ordered.ordering = Ordering::rcm;
    ordered.fill = 1;
    add("ILU(1) in RCM order" + by, 1, ordered);
    add("IC" + by, 1, options, ic<double>);
    add("ILUT" + by, 1, options, ilut<double>);
    IluOptions pivoting = options;
    pivoting.column_pivoting = 0.5;
    pivoting.ordering = Ordering::rcm;
    add("ILUTP in RCM order" + by, 1, pivoting, ilut<double>);
    IluOptions fixed = options;
    fixed.factor_sweeps = 3;
    add("ParILU" + by, 1, fixed);
    add("ParILUT" + by, 1, fixed, parilut<double>);
    add("ParICT" + by, 1, fixed, parict<double>);
  }
  for (const auto method : {Trisolve::jacobi, Trisolve::neumann}) {
    for (const auto scaling : {FactorScaling::none, FactorScaling::both}) {
      IluOptions options;
      options.trisolve = {.method = method, .sweeps = 6, .scaling = scaling, .guard = false};
      add(std::string("iterated triangles, ") + word(method) + ", scaling " + word(scaling), 1, options);
    }
  }
  IluOptions blocks;
  blocks.trisolve = {
      .method = Trisolve::jacobi, .sweeps = 6, .form = JacobiForm::compact, .rows_a_block = 8, .guard = false};
  add("iterated triangles, block Jacobi", 3, blocks);
}

void add_wrapped(std::vector<Kind>& kinds) {
  const std::int32_t n = 900;
  const auto matrix = [=] { return reference::with_random_values<double>(reference::random_rows(n, 0.01, 7), 1, 5); };
  IluOptions levels;
  levels.schedule = SweepSchedule::levels;
  kinds.push_back({"matched", [=] { return std::make_unique<MatchedIlu>(matrix(), levels); }, n});
  kinds.push_back({"scaled",
                   [=] {
                     return std::make_unique<ScaledPreconditioner>(
                         matrix(), [=](const BlockCsr<double>& A) { return ilu_of(A, levels, ilu<double>); });
                   },
                   n});
  kinds.push_back({"jacobi", [=] { return std::make_unique<Jacobi<double>>(matrix()); }, n});
  kinds.push_back({"none", [] { return std::make_unique<Identity<double>>(); }, n});
}

class ConcurrentApply : public testing::Test {
 protected:
  void SetUp() override { set_threads(2); }
  void TearDown() override { set_threads(0); }
};

void expect_all(const std::vector<Kind>& kinds) {
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const Precond M = kind.make();
    ASSERT_TRUE(M->report().ok) << M->report().message;
    expect_bits_of_one_caller([&](const auto& r, auto& z) { M->apply(r, z); }, kind.rows);
  }
}

TEST_F(ConcurrentApply, OnGrids) {
  std::vector<Kind> kinds;
  add_grids(kinds);
  expect_all(kinds);
}

TEST_F(ConcurrentApply, OfRows) {
  std::vector<Kind> kinds;
  add_rows(kinds);
  expect_all(kinds);
}

TEST_F(ConcurrentApply, OfPreconditionersAroundOthers) {
  std::vector<Kind> kinds;
  add_wrapped(kinds);
  expect_all(kinds);
}

/// A schedule of several threads, or the test would compare sequential sweeps with each other.
TEST_F(ConcurrentApply, SchedulesAreOfSeveralThreads) {
  const auto A = problems::poisson(cube, stencils::star7());
  EXPECT_EQ(ilu(A).report().schedule, "groups of lines");
  IluOptions options;
  for (const auto schedule : {SweepSchedule::levels, SweepSchedule::point_to_point}) {
    options.schedule = schedule;
    EXPECT_EQ(ilu(to_block_csr(A), options).report().schedule, word(schedule));
  }
}

TEST_F(ConcurrentApply, AfterARefactorizationToo) {
  const auto A = problems::poisson(cube, stencils::star7());
  auto B = problems::random(cube, stencils::star7(), 1, 9);
  auto M = ilu(A);
  const auto apply = [&](const auto& r, auto& z) { M.apply(r, z); };
  expect_bits_of_one_caller(apply, A.rows());
  ASSERT_TRUE(M.refactor(B).ok);
  expect_bits_of_one_caller(apply, A.rows());
}

TEST_F(ConcurrentApply, ProductsAndResiduals) {
  const auto grid = problems::random(cube, stencils::box27(), 1, 2);
  const auto rows = to_block_csr(grid);
  const auto b = wave(grid.rows(), 9);
  for (const Operator<double>* A :
       {static_cast<const Operator<double>*>(&grid), static_cast<const Operator<double>*>(&rows)}) {
    expect_bits_of_one_caller([&](const auto& x, auto& y) { A->apply(x, y); }, A->rows());
    expect_bits_of_one_caller([&](const auto& x, auto& y) { A->residual(b, x, y); }, A->rows());
    expect_bits_of_one_caller([&](const auto& x, auto& y) { A->careful_residual(b, x, y); }, A->rows());
  }
}

/// Whole solves: Eisenstat's form of CG, half products of GMRES, and the plain forms, all with one M and one A.
TEST_F(ConcurrentApply, WholeSolvesShareMatrixAndPreconditioner) {
  const auto A = problems::poisson(cube, stencils::star7());
  const auto M = ic(A);
  const auto rows = to_block_csr(A);
  IluOptions levels;
  levels.schedule = SweepSchedule::levels;
  const auto of_rows = ilu(rows, levels);
  KrylovOptions plain, whole, eisenstat, half;
  plain.cg_form = CgForm::plain;
  eisenstat.cg_form = CgForm::eisenstat;
  whole.product = Product::full;
  half.product = Product::half;
  struct Solve {
    std::string solver;
    KrylovOptions options;
    bool on_grid;
  };
  const std::vector<Solve> solves = {{"cg", eisenstat, true}, {"cg", plain, true},    {"gmres", half, true},
                                     {"gmres", whole, true},  {"cg", plain, false},   {"gmres", whole, false},
                                     {"fgmres", half, true},  {"bicgstab", {}, false}};
  const auto run = [&](const Solve& one, Vector<double>& x) {
    const auto b = wave(A.rows(), 1);
    KrylovOptions options = one.options;
    options.max_it = 8;
    options.restart = 5;
    x.fill(0);
    const auto report =
        one.on_grid ? solve(one.solver, A, b, x, M, options) : solve(one.solver, rows, b, x, of_rows, options);
    return report.iterations;
  };
  std::vector<Vector<double>> wanted;
  for (const Solve& one : solves) {
    wanted.emplace_back(A.rows(), 0.0);
    EXPECT_GT(run(one, wanted.back()), 2) << one.solver;
  }
  std::atomic<int> wrong{0};
  at_once([&](int caller) {
    Vector<double> x(A.rows());
    for (std::size_t turn = 0; turn < solves.size(); ++turn) {
      const auto which = (turn + static_cast<std::size_t>(caller)) % solves.size();
      run(solves[which], x);
      if (!same_bits(x, wanted[which])) ++wrong;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

/// Scratch for those who came at one time stays; who comes alone, or no more of them, takes none.
TEST_F(ConcurrentApply, OneCallerAllocatesNothingBeforeAndAfterManyDid) {
  const auto A = problems::poisson(cube, stencils::star7());
  const auto on_grid = ilu(A);
  IluOptions options;
  options.schedule = SweepSchedule::levels;
  options.ordering = Ordering::rcm;
  const auto of_rows = ilu(to_block_csr(A), options);
  for (const Preconditioner<double>* M :
       {static_cast<const Preconditioner<double>*>(&on_grid), static_cast<const Preconditioner<double>*>(&of_rows)}) {
    const auto r = wave(A.rows(), 1);
    Vector<double> z(A.rows());
    const auto none_taken = [&] {
      const auto before = allocation_count();
      for (int i = 0; i < 5; ++i) M->apply(r, z);
      return allocation_count() == before;
    };
    EXPECT_TRUE(none_taken());
    expect_bits_of_one_caller([&](const auto& x, auto& y) { M->apply(x, y); }, A.rows());
    EXPECT_TRUE(none_taken());
  }
}

}  // namespace
}  // namespace echelon
