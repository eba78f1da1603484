// SPDX-License-Identifier: BSD-3-Clause
// What to try next is never what was just tried.
#include <gtest/gtest.h>

#include <string>

#include "cli/next_step.hpp"
#include "echelon/precond/registry.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

RunReport ended(Reason reason, const std::string& solver, const std::string& pc, int fill = 0, bool automatic = false) {
  RunReport run;
  run.automatic = automatic;
  run.result.reason = reason;
  run.result.solver = solver;
  run.result.iterations = 200;
  run.result.preconditioner.name = pc;
  run.result.preconditioner.kind = find_preconditioner(pc).kind;
  run.result.preconditioner.fill = fill;
  AttemptSummary attempt;
  attempt.name = solver + " with " + pc;
  run.attempts.push_back(attempt);
  return run;
}

constexpr Reason unconverged[] = {Reason::max_it,      Reason::breakdown, Reason::indefinite_matrix, Reason::indefinite_pc,
                                  Reason::stagnated,   Reason::nan,       Reason::pc_failed,         Reason::diverged,
                                  Reason::interrupted, Reason::time_limit};

TEST(Advice, EveryEndHasSomeForEveryRun) {
  for (const auto reason : unconverged) {
    for (const bool automatic : {false, true}) {
      for (const char* pc : {"none", "jacobi", "ilu", "ic", "ilut"}) {
        EXPECT_FALSE(cli::next_step(ended(reason, "gmres", pc, 0, automatic)).empty()) << word(reason) << pc;
      }
    }
  }
}

TEST(Advice, TheLadderIsNotToldToTakeTheLadder) {
  for (const auto reason : unconverged) {
    const auto text = cli::next_step(ended(reason, "gmres", "ilu", 0, true));
    EXPECT_FALSE(contains(text, "(--pc auto") || contains(text, "try --pc auto")) << word(reason) << ": " << text;
    EXPECT_FALSE(contains(text, "--fill 1")) << text;
  }
}

TEST(Advice, FillIsRaisedFromWhatItWas) {
  EXPECT_TRUE(contains(cli::next_step(ended(Reason::max_it, "gmres", "ilu", 0)), "--fill 1"));
  EXPECT_TRUE(contains(cli::next_step(ended(Reason::max_it, "gmres", "ilu", 3)), "--fill 4"));
  EXPECT_FALSE(contains(cli::next_step(ended(Reason::max_it, "gmres", "jacobi")), "--fill"));
}

TEST(Advice, SolverAndPreconditionerAreOthers) {
  EXPECT_FALSE(contains(cli::next_step(ended(Reason::breakdown, "gmres", "ilu")), "--solver gmres"));
  EXPECT_TRUE(contains(cli::next_step(ended(Reason::breakdown, "bicgstab", "ilu")), "--solver gmres"));
  for (const auto reason : {Reason::nan, Reason::pc_failed, Reason::indefinite_pc}) {
    EXPECT_FALSE(contains(cli::next_step(ended(reason, "cg", "jacobi")), "--pc jacobi")) << word(reason);
    EXPECT_TRUE(contains(cli::next_step(ended(reason, "cg", "ic")), "--pc jacobi")) << word(reason);
    auto ladder = ended(reason, "gmres", "ilu", 0, true);
    ladder.attempts.push_back(ladder.attempts.front());
    ladder.attempts.back().name = "gmres with jacobi";
    EXPECT_FALSE(contains(cli::next_step(ladder), "--pc jacobi")) << word(reason) << ": the last rung";
  }
  EXPECT_FALSE(contains(cli::next_step(ended(Reason::stagnated, "cg", "ic")), "--restart")) << "CG has none";
}

TEST(Advice, ShiftsThatWereTriedAreNotNamed) {
  auto run = ended(Reason::pc_failed, "gmres", "ilu");
  run.result.preconditioner.bad_pivots.emplace_back();
  EXPECT_TRUE(contains(cli::next_step(run), "--shift auto"));
  run.result.preconditioner.shift_attempts = 21;
  EXPECT_FALSE(contains(cli::next_step(run), "--shift auto"));
  auto diverged = ended(Reason::diverged, "gmres", "ilu");
  EXPECT_TRUE(contains(cli::next_step(diverged), "--shift 0.1"));
  diverged.result.preconditioner.shift = 0.1;
  EXPECT_FALSE(contains(cli::next_step(diverged), "--shift"));
}

class AdviceOfTheProgram : public Program {};

TEST_F(AdviceOfTheProgram, ALadderThatEndsWithNoNamesNothingOfItself) {
  // Inconsistent: no method can do it.
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n3 3 1\n");
  write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n-1\n1\n");
  const auto result = run("solve --matrix A.mtx --rhs b.mtx");
  EXPECT_EQ(result.status, 1) << result.err;
  const auto at = result.out.find("\nnext ");
  ASSERT_NE(at, std::string::npos) << result.out;
  const auto line = result.out.substr(at + 1, result.out.find('\n', at + 1) - at - 1);
  for (const char* tried : {"(--pc auto", "try --pc auto", "--fill 1", "--pc jacobi", "--solver gmres"}) {
    EXPECT_FALSE(contains(line, tried)) << line;
  }
}

}  // namespace
}  // namespace echelon::test
