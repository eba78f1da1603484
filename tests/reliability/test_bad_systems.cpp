// SPDX-License-Identifier: BSD-3-Clause
// Matrices that others crash on or pass over, given to every factorization and kind of triangular solve: with repairs
// forbidden each is answered, or stopped with a sentence and the row; with repairs the factors are finite and the repair is
// counted; and the automatic solve says converged only of what is solved.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "echelon/solve/auto_solve.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

using Kind = PivotNote::Kind;

struct BadSystem {
  const char* name;
  std::int64_t n;
  std::vector<Triplet<double>> entries;
  std::int64_t bad_row;  // −1: there is nothing wrong with it
  Kind kind;
  bool solvable;
};

const BadSystem bad_systems[] = {
    {"one by one", 1, {{0, 0, 3.0}}, -1, {}, true},
    {"one by one, zero", 1, {{0, 0, 0.0}}, 0, Kind::zero, false},
    {"one by one, empty", 1, {}, 0, Kind::zero, false},
    {"zero row", 3, {{0, 0, 2.0}, {0, 1, 1.0}, {2, 2, 1.0}, {2, 1, 1.0}}, 1, Kind::zero, false},
    {"zero diagonal", 3, {{0, 0, 1.0}, {1, 1, 0.0}, {1, 2, 1.0}, {2, 1, 1.0}, {2, 2, 1.0}}, 1, Kind::zero, true},
    {"disconnected", 4, {{0, 0, 2.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 2.0}, {2, 2, 4.0}, {3, 3, 5.0}}, -1, {}, true},
    {"indefinite", 2, {{0, 0, -1.0}, {0, 1, 3.0}, {1, 0, 3.0}, {1, 1, 1.0}}, -1, {}, true},
    {"singular by structure", 3, {{0, 0, 1.0}, {1, 0, 1.0}, {2, 1, 1.0}, {2, 2, 1.0}}, 1, Kind::zero, false},
    {"singular by values", 2, {{0, 0, 1.0}, {0, 1, 2.0}, {1, 0, 3.0}, {1, 1, 6.0}}, 1, Kind::zero, false},
    {"not a number", 2, {{0, 0, 1.0}, {1, 0, std::nan("")}, {1, 1, 1.0}}, 1, Kind::nonfinite_input, false},
    {"infinite", 2, {{0, 0, 1.0}, {1, 1, std::numeric_limits<double>::infinity()}}, 1, Kind::nonfinite_input, false},
    {"overflow", 2, {{0, 0, 1e-300}, {0, 1, 1e-300}, {1, 0, 1e200}, {1, 1, 1.0}}, 1, Kind::overflow, false},
};

struct Way {
  const char* title;
  const char* pc;
  IluOptions options;
  bool own_order = false;  // an exchange or another order may find pivots, or meet other rows first
};

std::vector<Way> ways() {
  const TrisolveOptions jacobi{.method = Trisolve::jacobi, .sweeps = 8, .scaling = FactorScaling::both};
  const TrisolveOptions blocks{.method = Trisolve::jacobi, .sweeps = 8, .rows_a_block = 2};
  const TrisolveOptions neumann{.method = Trisolve::neumann, .sweeps = 8};
  return {
      {"ilu", "ilu", {}},
      {"ilut", "ilut", {.drop = 0}},
      {"ilutp", "ilut", {.drop = 0, .column_pivoting = 0.1}, true},
      {"parilu", "parilu", {.factor_sweeps = 8}},
      {"parilut", "parilut", {.factor_sweeps = 8, .fill_limit = 10}},
      {"mcilu", "mcilu", {}, true},
      {"dbsr", "dbsr", {}, true},
      {"ilu, jacobi", "ilu", {.trisolve = jacobi}},
      {"ilut, neumann", "ilut", {.drop = 0, .trisolve = neumann}},
      {"ilut, block jacobi", "ilut", {.drop = 0, .trisolve = blocks}},
      {"parilu, jacobi", "parilu", {.factor_sweeps = 8, .trisolve = jacobi}},
      {"parilut, neumann", "parilut", {.factor_sweeps = 8, .fill_limit = 10, .trisolve = neumann}},
      {"mcilu, jacobi", "mcilu", {.trisolve = jacobi}, true},
  };
}

bool is_finite(Kind kind) { return kind != Kind::nonfinite_input && kind != Kind::overflow; }

void expect_answer_or_row(const BadSystem& bad, const BlockCsr<double>& A, const Way& way) {
  IluOptions options = way.options;
  options.shift = ShiftPolicy::none;
  const auto M = make_preconditioner(way.pc, &A, {.ilu = options});
  const FactorReport& report = M->report();
  Vector<double> r(bad.n, 1.0), z(bad.n);
  if (report.ok) {
    if (!way.own_order) {
      EXPECT_LT(bad.bad_row, 0);
    }
    M->apply(r, z);
    for (const double value : z) EXPECT_TRUE(std::isfinite(value));
    return;
  }
  EXPECT_GE(bad.bad_row, 0) << report.message;
  EXPECT_ERROR(M->apply(r, z), bad_argument, "failed factorization");
  ASSERT_FALSE(report.bad_pivots.empty()) << report.message;
  const PivotNote& first = report.bad_pivots.front();
  EXPECT_NE(report.message.find("row " + std::to_string(first.row)), std::string::npos) << report.message;
  if (way.own_order) return;
  EXPECT_EQ(first.row, bad.bad_row) << report.message;
  EXPECT_EQ(first.kind, bad.kind) << word(first.kind);
}

void expect_counted_repair(const BadSystem& bad, const BlockCsr<double>& A, const Way& way) {
  const auto M = make_preconditioner(way.pc, &A, {.ilu = way.options});
  const FactorReport& report = M->report();
  if (!way.own_order) {
    EXPECT_EQ(report.ok, bad.bad_row < 0 || is_finite(bad.kind)) << report.message;
  }
  if (!report.ok) {
    EXPECT_FALSE(report.message.empty());
    return;
  }
  Vector<double> r(bad.n, 1.0), z(bad.n);
  M->apply(r, z);
  for (const double value : z) EXPECT_TRUE(std::isfinite(value));
  if (!way.own_order) {
    EXPECT_EQ(report.perturbed_pivots > 0 || report.shift > 0, bad.bad_row >= 0);
  }
}

TEST(BadSystems, EveryFactorizationAnswersOrStopsWithTheRow) {
  for (const auto& bad : bad_systems) {
    const auto A = from_triplets<double>(bad.n, bad.n, bad.entries);
    for (const auto& way : ways()) {
      SCOPED_TRACE(testing::Message() << bad.name << ", " << way.title);
      expect_answer_or_row(bad, A, way);
      expect_counted_repair(bad, A, way);
    }
  }
}

TEST(BadSystems, TheAutomaticSolveIsHonest) {
  for (const auto& bad : bad_systems) {
    const auto A = from_triplets<double>(bad.n, bad.n, bad.entries);
    for (const char* pc : {"auto", "ilut", "parilu", "parilut", "mcilu"}) {
      SCOPED_TRACE(testing::Message() << bad.name << ", " << pc);
      const Vector<double> b = reference::waves(bad.n);
      Vector<double> x(bad.n, 0.0);
      SolveRequest request;
      request.wishes.pc = pc;
      try {
        const auto outcome = solve_automatically(&A, b, x, request);
        for (const double value : x) EXPECT_TRUE(std::isfinite(value));
        if (bad.solvable && std::string(pc) == "auto") {
          EXPECT_TRUE(outcome.report.converged) << outcome.report.message;
        }
        if (outcome.report.converged) {
          EXPECT_LE(reference::exact_residual_norm(A, b, x), 1.001L * 1e-8L * reference::exact_norm(b));
        } else {
          EXPECT_FALSE(outcome.report.message.empty());
        }
      } catch (const Error& error) {
        EXPECT_FALSE(bad.solvable) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace echelon
