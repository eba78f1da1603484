// SPDX-License-Identifier: BSD-3-Clause
// Honesty: over hard random systems, solvers and preconditioners, 'converged' is never said of an x whose residual, judged
// apart in quadruple precision, misses the tolerance; the reported residual is the true one; nothing crashes or runs on.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "echelon/base/error.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/registry.hpp"
#include "tests/reference/hard_systems.hpp"
#include "tests/reference/small_systems.hpp"

namespace echelon {
namespace {

constexpr double rtol = 1e-8;
/// For rounding in the judge and in the norm of b.
constexpr long double allowance = 1 + 1e-3L;
constexpr std::int64_t iterations_allowed = 400;

const char* const solvers[] = {"cg", "gmres", "fgmres", "bicgstab"};
struct Way {
  const char* title;
  const char* pc;
  IluOptions options;
};
/// Iterations without their guard among them: then it is the solver that has to notice.
const Way ways[] = {
    {"none", "none", {}},
    {"jacobi", "jacobi", {}},
    {"sgs", "sgs", {}},
    {"ssor, scaled", "sgs", {.omega = 1.4, .scale_matrix = true}},
    {"ilu(0)", "ilu", {}},
    {"ilu(1)", "ilu", {.fill = 1}},
    {"ic", "ic", {}},
    {"ilut", "ilut", {.lfil = 5}},
    {"ilutp", "ilut", {.lfil = 5, .column_pivoting = 0.1}},
    {"parilu", "parilu", {}},
    {"parilut", "parilut", {}},
    {"mcilu", "mcilu", {}},
    {"dbsr", "dbsr", {}},
    {"ilu(0), scaled, jacobi", "ilu", {.trisolve = {.method = Trisolve::jacobi, .sweeps = 3}, .scale_matrix = true}},
    {"ilu(0), jacobi, no guard", "ilu", {.trisolve = {.method = Trisolve::jacobi, .sweeps = 9, .guard = false}}},
    {"ilut, neumann", "ilut", {.trisolve = {.method = Trisolve::neumann, .sweeps = 4, .scaling = FactorScaling::both}}},
};

struct Tally {
  std::int64_t converged = 0, honest_no = 0, refused = 0;
  std::map<std::string, std::int64_t> reasons;
};

void judge(std::uint64_t number, const std::string& solver, const Way& way, Tally& tally) {
  auto system = reference::hard_system(number);
  SCOPED_TRACE(testing::Message() << "system " << number << " (" << system.kind << ", n = " << system.A.rows() << "), "
                                  << solver << " + " << way.title);
  const long double norm_b = reference::exact_norm(system.b);
  const long double start = reference::exact_residual_norm(system.A, system.b, system.x);
  std::unique_ptr<Preconditioner<double>> M;
  try {
    M = make_preconditioner(way.pc, &system.A, {.ilu = way.options});
  } catch (const Error& error) {
    // IC says at once that it needs symmetry; that is honest, too.
    EXPECT_EQ(error.code(), ErrorCode::symmetry) << error.what();
    ++tally.refused;
    return;
  }
  Report report;
  try {
    report = solve(solver, system.A, system.b, system.x, *M,
                   {.rtol = rtol,
                    .max_it = iterations_allowed,
                    .restart = 30,
                    .basis = number % 3 == 0 ? BasisPrecision::fp32 : BasisPrecision::fp64,
                    .null_space = system.null_vector.empty() ? nullptr : &system.null_vector});
  } catch (const Error& error) {
    // A vector that is not quite one, or a norm of b that is no double: said, not solved.
    const bool no_null_vector = error.code() == ErrorCode::bad_argument && !system.null_vector.empty();
    EXPECT_TRUE(no_null_vector || error.code() == ErrorCode::nonfinite_value) << error.what();
    ++tally.refused;
    return;
  }
  const long double residual = reference::exact_residual_norm(system.A, system.b, system.x);
  EXPECT_LE(report.iterations, iterations_allowed);
  EXPECT_EQ(report.converged, is_converged(report.reason));
  EXPECT_FALSE(report.message.empty());
  ++tally.reasons[word(report.reason)];
  // The residual in the report is that of the b that was given, converged or not.
  if (std::isfinite(report.relative_residual) && norm_b > 0) {
    const auto relative = static_cast<double>(residual / norm_b);
    EXPECT_NEAR(report.relative_residual, relative, 1e-3 * relative + 1e-12) << report.message;
  }
  if (report.converged) {
    ++tally.converged;
    EXPECT_LE(residual, allowance * rtol * norm_b) << "FALSE CONVERGED: ‖r‖/‖b‖ = " << static_cast<double>(residual / norm_b)
                                                   << ", reported " << report.relative_residual;
  } else {
    ++tally.honest_no;
    // Rounding of one evaluation in double is all that may make the returned x look worse than the start.
    if (std::isfinite(report.relative_residual)) {
      EXPECT_LE(residual, start * allowance + 1e-10L * start) << report.message;
    }
  }
}

constexpr std::size_t always = 5;  // ways that every system goes; of the others all, or one after the other

void judge_all(std::uint64_t systems, bool all_ways) {
  Tally tally;
  for (std::uint64_t number = 0; number < systems; ++number) {
    const auto turn = always + number / static_cast<std::uint64_t>(reference::hard_kinds()) % (std::size(ways) - always);
    for (const char* solver : solvers) {
      for (std::size_t w = 0; w < std::size(ways); ++w) {
        if (w < always || all_ways || w == turn) judge(number, solver, ways[w], tally);
      }
    }
  }
  std::string reasons;
  for (const auto& [reason, count] : tally.reasons) reasons += " " + reason + " " + std::to_string(count);
  std::printf("%llu systems: converged %lld, honest no %lld, refused %lld;%s\n", static_cast<unsigned long long>(systems),
              static_cast<long long>(tally.converged), static_cast<long long>(tally.honest_no),
              static_cast<long long>(tally.refused), reasons.c_str());
  EXPECT_GT(tally.converged, 0);
  EXPECT_GT(tally.honest_no, 0);
}

TEST(Honesty, NoFalseConvergedOverTwoHundredHardSystems) { judge_all(200, true); }
TEST(HonestyFull, NoFalseConvergedOverTwoThousandHardSystems) { judge_all(2000, false); }

}  // namespace
}  // namespace echelon
