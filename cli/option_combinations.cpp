// SPDX-License-Identifier: BSD-3-Clause
#include "cli/option_combinations.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/problem_kinds.hpp"
#include "echelon/base/error.hpp"
#include "echelon/precond/registry.hpp"

namespace echelon::cli {
namespace {

bool iterates(const SolveOptions& o) { return o.trisolve != "exact"; }
bool sweeps_over_factors(const SolveOptions& o) { return o.pc == "parilu" || o.pc == "parilut"; }

}  // namespace

void settle_sweeps(SolveOptions& o, const Given& given) {
  if (!given("--sweeps") || iterates(o) || !sweeps_over_factors(o)) return;
  if (given("--factor-sweeps"))
    throw Error(ErrorCode::bad_option, "--sweeps is --factor-sweeps where triangles are solved exactly: give one of them");
  o.factor_sweeps = o.sweeps;
}

void check_combination(const SolveOptions& o, const Given& given) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCode::bad_option, sentence); };
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
  const bool factors = o.pc == "auto" || find_preconditioner(o.pc).takes_ilu_options;
  for (const char* name :
       {"--fill", "--shift", "--ordering", "--schedule", "--factor-precision", "--trisolve", "--scale-matrix"}) {
    if (given(name) && !factors) refuse(fmt::format("{} is for factorizations; --pc {} has none", name, o.pc));
  }
  if (given("--factor-sweeps") && !sweeps_over_factors(o))
    refuse(fmt::format("--factor-sweeps is for --pc parilu and parilut; got --pc {}", o.pc));
  if (given("--fill-limit") && o.pc != "parilut") refuse(fmt::format("--fill-limit is for --pc parilut; got --pc {}", o.pc));
  if (given("--fill") && o.pc == "parilut") refuse("--pc parilut finds its fill by --fill-limit; --fill is a level");
  if (o.pc == "parilut" && (o.block > 1 || (o.matrix.empty() && unknowns_a_point(o) > 1)))
    refuse("--pc parilut needs blocks of size 1");
  if (o.pc == "mcilu" && given("--ordering") && o.ordering != "colours" && o.ordering != "random-colours")
    refuse(fmt::format("--pc mcilu is ILU in the order of a colouring: colours or random-colours; got {}", o.ordering));
  if (given("--sweeps") && !iterates(o) && !sweeps_over_factors(o))
    refuse("--sweeps needs --trisolve jacobi, neumann or auto, or --pc parilu or parilut");
  for (const char* name : {"--trisolve-form", "--damping", "--jacobi-block", "--scale-factors", "--guard"}) {
    if (given(name) && !iterates(o)) refuse(fmt::format("{} needs --trisolve jacobi, neumann or auto", name));
  }
  if (o.trisolve == "neumann" && (o.damping != 1 || o.jacobi_block > 1))
    refuse("--damping and --jacobi-block are for --trisolve jacobi");
  if (o.jacobi_block > 1 && o.damping != 1) refuse("--jacobi-block has no damping: give one of them");
  if (o.match_rows && o.scale_matrix != "none") refuse("--match-rows scales the matrix already: leave --scale-matrix out");
  if (given("--fill") && o.pc == "ilut") refuse("--fill is the level of ilu and ic; --pc ilut has --lfil and --drop");
  for (const char* name : {"--drop", "--lfil", "--column-pivoting"}) {
    if (given(name) && o.pc != "ilut" && o.pc != "auto") refuse(fmt::format("{} is for --pc ilut; got --pc {}", name, o.pc));
  }
  if (o.column_pivoting > 0 && (o.block > 1 || (o.matrix.empty() && unknowns_a_point(o) > 1)))
    refuse("--column-pivoting needs blocks of size 1");
  if (o.column_pivoting > 0 && o.solver == "cg") refuse("--column-pivoting takes the symmetry away that --solver cg needs");
  if (o.match_rows && o.pc != "auto" && !find_preconditioner(o.pc).factor_matched)
    refuse(fmt::format("--match-rows is for --pc ilu and ilut; got --pc {}", o.pc));
  if (o.match_rows && o.solver == "cg") refuse("--match-rows takes the symmetry away that --solver cg needs");
  if (o.match_rows && (o.block > 1 || (o.matrix.empty() && unknowns_a_point(o) > 1)))
    refuse("--match-rows needs blocks of size 1");
  if (o.strict && given("--shift") && o.shift == "auto") refuse("--strict forbids the repairs that --shift auto asks for");
  if (o.quiet && o.verbose) refuse("-q and -v contradict each other");
}

}  // namespace echelon::cli
