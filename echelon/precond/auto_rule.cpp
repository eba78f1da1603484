// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/auto_rule.hpp"

#include <fmt/format.h>

#include <cmath>

namespace echelon {
namespace {

enum class Suits { any, symmetric, weak_diagonal };

struct Rule {
  Suits suits;
  const char* solver;
  const char* pc;
  int extra_fill;  // on top of the fill wished for
  Ordering ordering;
  ShiftPolicy shift;
  bool match_rows;
  const char* why;
};

constexpr auto natural = Ordering::natural;
constexpr auto rcm = Ordering::rcm;

/// The ladder. A rule that does not suit the matrix is left out; so is one whose solver contradicts the user's.
constexpr Rule rules[] = {
    {Suits::symmetric, "cg", "ic", 0, natural, ShiftPolicy::none, false, "symmetric with a positive diagonal"},
    {Suits::any, "gmres", "ilu", 0, natural, ShiftPolicy::automatic, false, "the standard choice for a general matrix"},
    {Suits::any, "gmres", "ilu", 1, natural, ShiftPolicy::automatic, false, "more fill"},
    {Suits::any, "gmres", "ilu", 2, rcm, ShiftPolicy::automatic, false, "more fill in a narrower band"},
    {Suits::any, "gmres", "ilu", 4, rcm, ShiftPolicy::automatic, false, "much more fill"},
    {Suits::any, "gmres", "jacobi", 0, natural, ShiftPolicy::automatic, false, "no factorization helped"},
};

bool suits(const Rule& rule, const MatrixTraits& matrix) {
  switch (rule.suits) {
    case Suits::any: return true;
    case Suits::symmetric: return matrix.symmetric() && matrix.positive_diagonal();
    case Suits::weak_diagonal: return matrix.weak_diagonals > 0;
  }
  return true;
}

/// A fixed preconditioner: the solver goes by symmetry, and CG that meets an indefinite matrix hands over to GMRES.
std::vector<AutoChoice> fixed_preconditioner(const MatrixTraits& matrix, const AutoWishes& wishes) {
  const auto choice = [&](const char* solver, const char* why) {
    return AutoChoice{wishes.solver == "auto" ? solver : wishes.solver, wishes.pc, wishes.ilu, false, why};
  };
  if (wishes.solver != "auto") return {choice("", "as asked for")};
  if (matrix.symmetric() && matrix.positive_diagonal()) {
    return {choice("cg", "symmetric with a positive diagonal"),
            choice("gmres", "the matrix or preconditioner is not definite")};
  }
  return {choice("gmres", matrix.symmetric() ? "symmetric, but the diagonal is not positive" : "not symmetric")};
}

}  // namespace

std::string AutoChoice::name() const {
  std::string text = fmt::format("{} with {}", solver, pc == "none" ? "no preconditioner" : pc);
  if (pc == "ilu" || pc == "ic") text += fmt::format("({})", ilu.fill);
  if (ilu.ordering == Ordering::rcm) text += ", rcm order";
  if (match_rows) text += ", rows matched";
  return text;
}

std::vector<AutoChoice> auto_ladder(const MatrixTraits& matrix, const AutoWishes& wishes) {
  if (wishes.pc != "auto") return fixed_preconditioner(matrix, wishes);
  std::vector<AutoChoice> ladder;
  for (const auto& rule : rules) {
    if (!suits(rule, matrix)) continue;
    AutoChoice choice{rule.solver, rule.pc, wishes.ilu, rule.match_rows, rule.why};
    if (wishes.solver != "auto") choice.solver = wishes.solver;
    choice.ilu.fill = wishes.ilu.fill + rule.extra_fill;
    if (rule.ordering == rcm) choice.ilu.ordering = rcm;
    // The user's own policy stands; the rules only refine "auto".
    if (choice.ilu.shift == ShiftPolicy::automatic) choice.ilu.shift = rule.shift;
    ladder.push_back(std::move(choice));
  }
  return ladder;
}

bool looks_hopeless(std::int64_t iteration, double relative_residual, double rtol, std::int64_t max_it) {
  constexpr std::int64_t patience = 200;
  if (iteration < patience || iteration % 50 != 0 || !(rtol > 0)) return false;
  if (!(relative_residual < 1)) return true;
  const double needed = static_cast<double>(iteration) * std::log(rtol) / std::log(relative_residual);
  return needed > static_cast<double>(max_it);
}

}  // namespace echelon
