// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/auto_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/precond/registry.hpp"

namespace echelon {
namespace {

enum class Suits { any, symmetric, zero_diagonal, full_diagonal, scalar, blocks };

struct Rule {
  Suits suits;
  const char* solver;
  const char* pc;
  int more;  // ilu, ic: on top of the fill wished for; ilut: so many times the lfil wished for, and less dropped (finer)
  Ordering ordering;
  ShiftPolicy shift;
  bool match_rows;
  std::int64_t most_rows;  // not tried above: the fill would be a complete factorization's
  const char* why;
  double column_pivoting = 0;  // ilut
};

constexpr auto natural = Ordering::natural;
constexpr auto rcm = Ordering::rcm;
constexpr auto stop = ShiftPolicy::none;
constexpr auto repair = ShiftPolicy::automatic;
constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

/// The ladder. A rule that does not suit the matrix is left out.
constexpr Rule rules[] = {
    {Suits::symmetric, "cg", "ic", 0, natural, stop, false, all, "symmetric with a positive diagonal"},
    {Suits::zero_diagonal, "gmres", "ilut", 1, natural, repair, true, all,
     "the diagonal has zeros, a row permutation fills it"},
    {Suits::zero_diagonal, "gmres", "ilu", 1, natural, repair, true, all,
     "the diagonal has zeros, a row permutation fills it"},
    {Suits::any, "gmres", "ilu", 0, natural, repair, false, all, "the standard choice for a general matrix"},
    {Suits::any, "gmres", "ilu", 1, natural, repair, false, all, "more fill"},
    {Suits::full_diagonal, "gmres", "ilut", 1, natural, repair, true, all, "fill where it is large, on a large diagonal"},
    {Suits::any, "gmres", "ilu", 2, rcm, repair, false, all, "more fill in a narrower band"},
    {Suits::blocks, "gmres", "ilu", 4, rcm, repair, false, 200'000, "much more fill"},
    {Suits::scalar, "gmres", "ilut", 5, natural, repair, true, 500'000, "much more fill where it is large"},
    {Suits::scalar, "gmres", "ilu", 5, natural, repair, true, 500'000, "much more fill on a large diagonal"},
    {Suits::scalar, "gmres", "ilu", 15, natural, repair, true, 100'000, "nearly a complete factorization"},
    {Suits::scalar, "gmres", "ilut", 10, rcm, repair, false, 200'000,
     "very much fill where it is large, in a narrower band"},
    {Suits::scalar, "gmres", "ilut", 10, rcm, repair, false, 200'000, "the same with pivots chosen among the columns", 0.5},
    {Suits::any, "gmres", "jacobi", 0, natural, repair, false, all, "no factorization helped"},
};

/// How much less is dropped with so many times the entries.
double finer(int more) { return more < 10 ? static_cast<double>(more * more * more) : 1e5; }

bool suits(const Rule& rule, const MatrixTraits& matrix) {
  if (matrix.rows > rule.most_rows) return false;
  switch (rule.suits) {
    case Suits::any: return true;
    case Suits::symmetric: return matrix.symmetric() && matrix.positive_diagonal();
    case Suits::zero_diagonal: return matrix.block == 1 && matrix.missing_diagonals + matrix.zero_diagonals > 0;
    case Suits::full_diagonal: return matrix.block == 1 && matrix.missing_diagonals + matrix.zero_diagonals == 0;
    case Suits::scalar: return matrix.block == 1;
    case Suits::blocks: return matrix.block > 1;
  }
  return true;
}

/// A fixed preconditioner: the solver goes by symmetry, and CG that meets an indefinite matrix hands over to GMRES.
std::vector<AutoChoice> fixed_preconditioner(const MatrixTraits& matrix, const AutoWishes& wishes) {
  const auto choice = [&](const char* solver, const char* why) {
    return AutoChoice{wishes.solver == "auto" ? solver : wishes.solver, wishes.pc, wishes.options, why};
  };
  if (wishes.solver != "auto") return {choice("", "as asked for")};
  // Matched rows and thresholds take the symmetry away from the preconditioner.
  if (wishes.options.match_rows) return {choice("gmres", "rows matched, as asked for")};
  if (wishes.pc == "ilut") return {choice("gmres", "thresholds keep no symmetry")};
  if (matrix.symmetric() && matrix.positive_diagonal()) {
    return {choice("cg", "symmetric with a positive diagonal"),
            choice("gmres", "the matrix or preconditioner is not definite")};
  }
  return {choice("gmres", matrix.symmetric() ? "symmetric, but the diagonal is not positive" : "not symmetric")};
}

}  // namespace

std::string AutoChoice::name() const {
  const PrecondEntry* entry = look_up_preconditioner(pc);
  const bool nothing = entry && entry->kind == PrecondKind::identity;
  std::string text = fmt::format("{} with {}", solver, nothing ? "no preconditioner" : pc);
  if (entry && entry->parameters) text += entry->parameters(options);
  if (options.ilu.ordering == Ordering::rcm) text += ", rcm order";
  if (options.match_rows) text += ", rows matched";
  return text;
}

std::vector<AutoChoice> auto_ladder(const MatrixTraits& matrix, const AutoWishes& wishes) {
  if (wishes.pc != "auto") return fixed_preconditioner(matrix, wishes);
  std::vector<AutoChoice> ladder;
  for (const auto& rule : rules) {
    if (!suits(rule, matrix) || (wishes.options.match_rows && !rule.match_rows)) continue;
    AutoChoice choice{rule.solver, rule.pc, wishes.options, rule.why};
    choice.options.match_rows = rule.match_rows;
    IluOptions& ilu = choice.options.ilu;
    if (wishes.solver != "auto") choice.solver = wishes.solver;
    if (choice.solver == "cg" && rule.match_rows) continue;
    if (choice.pc == "ilut") {
      ilu.lfil *= rule.more;
      ilu.drop /= finer(rule.more);
      if (rule.column_pivoting > 0) ilu.column_pivoting = rule.column_pivoting;
    } else {
      ilu.fill += rule.more;
    }
    if (rule.ordering == rcm) ilu.ordering = rcm;
    // The user's own policy stands; the rules only refine "auto".
    if (ilu.shift == ShiftPolicy::automatic) ilu.shift = rule.shift;
    ladder.push_back(std::move(choice));
  }
  return ladder;
}

std::int64_t setup_budget(std::int64_t nonzeros) {
  // About a second on one core for anything, and beyond that what some thousands of iterations cost.
  constexpr std::int64_t for_anything = 2'000'000'000, a_nonzero = 20'000;
  return std::max(for_anything, a_nonzero * nonzeros);
}

bool looks_hopeless(std::int64_t iteration, double relative_residual, double rtol, std::int64_t max_it) {
  constexpr std::int64_t patience = 200;
  if (iteration < patience || iteration % 50 != 0 || !(rtol > 0)) return false;
  if (!(relative_residual < 1)) return true;
  const double needed = static_cast<double>(iteration) * std::log(rtol) / std::log(relative_residual);
  return needed > static_cast<double>(max_it);
}

}  // namespace echelon
