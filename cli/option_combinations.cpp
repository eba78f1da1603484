// SPDX-License-Identifier: BSD-3-Clause
#include "cli/option_combinations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/problem_kinds.hpp"
#include "echelon/base/error.hpp"
#include "echelon/precond/registry.hpp"

namespace echelon::cli {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCode::bad_option, sentence); }

/// "parilu and parilut"
std::string joined(std::vector<std::string> names, const char* last) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const std::string end = names.back();
  names.pop_back();
  return fmt::format("{} {} {}", fmt::join(names, ", "), last, end);
}

std::vector<std::string> names_of(const std::vector<const PrecondEntry*>& entries) {
  std::vector<std::string> names;
  for (const auto* entry : entries) names.emplace_back(entry->name);
  return names;
}

/// Null for auto.
const PrecondEntry* chosen(const SolveOptions& o) { return o.pc == "auto" ? nullptr : &find_preconditioner(o.pc); }

std::vector<const PrecondEntry*> owners_of_option(const std::string& name) {
  for (const auto* option : precond_options()) {
    if (name == option->name) return owners_of(*option);
  }
  return {};
}

bool owns(const PrecondEntry* entry, const std::vector<const PrecondEntry*>& owners) {
  return std::ranges::find(owners, entry) != owners.end();
}

bool iterates(const SolveOptions& o) { return o.precond.ilu.trisolve.method != Trisolve::exact; }
bool sweeps_over_factors(const SolveOptions& o) { return owns(chosen(o), owners_of_option("--factor-sweeps")); }
bool has_blocks(const SolveOptions& o) { return o.block > 1 || (o.matrix.empty() && unknowns_a_point(o) > 1); }

/// What the entries say: whose own an option is, and what a method does not go with.
void check_methods(const SolveOptions& o, const Given& given, bool late) {
  const PrecondEntry* entry = chosen(o);
  for (const auto* option : precond_options()) {
    const auto owners = owners_of(*option);
    if (owners.empty() || owners.front()->refuses_late != late || !given(option->name)) continue;
    if (entry ? !owns(entry, owners) : !option->for_auto)
      refuse(fmt::format("{} is for --pc {}; got --pc {}", option->name, joined(names_of(owners), "and"), o.pc));
  }
  if (!entry || entry->refuses_late != late) return;
  if (entry->refuse) {
    const std::string sentence = entry->refuse(o.precond, given);
    if (!sentence.empty()) refuse(sentence);
  }
  if (entry->scalars_only && has_blocks(o)) refuse(fmt::format("--pc {} needs blocks of size 1", o.pc));
}

void check_matched_rows(const SolveOptions& o) {
  const PrecondEntry* entry = chosen(o);
  if (entry && !entry->factor_matched) {
    std::vector<const PrecondEntry*> able;
    for (const auto& one : preconditioners()) {
      if (one.factor_matched) able.push_back(&one);
    }
    refuse(fmt::format("--match-rows is for --pc {}; got --pc {}", joined(names_of(able), "and"), o.pc));
  }
  if (o.solver == "cg") refuse("--match-rows takes the symmetry away that --solver cg needs");
  if (has_blocks(o)) refuse("--match-rows needs blocks of size 1");
}

}  // namespace

void settle_sweeps(SolveOptions& o, const Given& given) {
  if (!given("--sweeps") || iterates(o) || !sweeps_over_factors(o)) return;
  if (given("--factor-sweeps"))
    throw Error(ErrorCode::bad_option, "--sweeps is --factor-sweeps where triangles are solved exactly: give one of them");
  o.precond.ilu.factor_sweeps = o.precond.ilu.trisolve.sweeps;
}

void check_combination(const SolveOptions& o, const Given& given) {
  if (!o.matrix.empty()) {
    std::vector<std::string> problem = {"--problem", "--grid", "--stencil", "--dof"};
    for (const auto& name : problem_options()) problem.push_back(name);
    for (const auto& name : problem) {
      if (given(name)) refuse(fmt::format("{} describes a built-in problem and --matrix a file: give one of them", name));
    }
  } else {
    for (const char* name : {"--block", "--duplicates", "--allow-nonfinite", "--recognise"}) {
      if (given(name)) refuse(fmt::format("{} needs --matrix", name));
    }
    check_problem(o, given);
  }
  const PrecondEntry* entry = chosen(o);
  const bool factors = !entry || entry->takes_ilu_options;
  for (const char* name :
       {"--fill", "--shift", "--ordering", "--schedule", "--factor-precision", "--trisolve", "--scale-matrix"}) {
    if (given(name) && !factors) refuse(fmt::format("{} is for factorizations; --pc {} has none", name, o.pc));
  }
  check_methods(o, given, false);
  if (given("--sweeps") && !iterates(o) && !sweeps_over_factors(o))
    refuse(fmt::format("--sweeps needs --trisolve jacobi, neumann or auto, or --pc {}",
                       joined(names_of(owners_of_option("--factor-sweeps")), "or")));
  for (const char* name : {"--trisolve-form", "--damping", "--jacobi-block", "--scale-factors", "--guard"}) {
    if (given(name) && !iterates(o)) refuse(fmt::format("{} needs --trisolve jacobi, neumann or auto", name));
  }
  const IluOptions& ilu = o.precond.ilu;
  const TrisolveOptions& trisolve = ilu.trisolve;
  if (trisolve.method == Trisolve::neumann && (trisolve.damping != 1 || trisolve.rows_a_block > 1))
    refuse("--damping and --jacobi-block are for --trisolve jacobi");
  if (trisolve.rows_a_block > 1 && trisolve.damping != 1) refuse("--jacobi-block has no damping: give one of them");
  if (o.precond.match_rows && ilu.scale_matrix) refuse("--match-rows scales the matrix already: leave --scale-matrix out");
  check_methods(o, given, true);
  if (ilu.column_pivoting > 0 && has_blocks(o)) refuse("--column-pivoting needs blocks of size 1");
  if (ilu.column_pivoting > 0 && o.solver == "cg")
    refuse("--column-pivoting takes the symmetry away that --solver cg needs");
  if (o.precond.match_rows) check_matched_rows(o);
  if (o.strict && given("--shift") && ilu.shift == ShiftPolicy::automatic)
    refuse("--strict forbids the repairs that --shift auto asks for");
  if (o.quiet && o.verbose) refuse("-q and -v contradict each other");
}

}  // namespace echelon::cli
