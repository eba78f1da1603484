// SPDX-License-Identifier: BSD-3-Clause
// The built-in problems of the program, one line each: what they fix, which options are theirs, and how they are made.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/solve_options.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::cli {

struct ProblemKind {
  const char* name;
  const char* stencil;  // the only one it has; empty: star7, star5 on 2-D grids, or as asked for
  int dof;              // unknowns a point; 0: as asked for
  bool symmetric;       // CG is taken when the solver is left open
  bool singular;        // with the constant as its null vector, whatever its options
  std::vector<std::string> options;
  /// Both null: not a matrix on the grid (linear_system.cpp makes it).
  StructMatrix<double> (*assemble)(const SolveOptions& options, const Grid& grid, const Stencil& stencil);
  problems::Rows (*rows)(const SolveOptions& options, const Grid& grid, const Stencil& stencil, Device device);
};

const std::vector<ProblemKind>& problem_kinds();
std::vector<std::string> problem_names();
/// Every option that belongs to some of them.
std::vector<std::string> problem_options();
const ProblemKind& problem_kind(const std::string& name);
int unknowns_a_point(const SolveOptions& options);
Stencil stencil_of(const SolveOptions& options);
/// Whether the constant is the problem's null vector.
bool is_singular(const SolveOptions& options);
/// Whether the solve keeps b and x orthogonal to the constant vector.
bool has_constant_null_space(const SolveOptions& options);

/// Throws Error(bad_option) when a given option does not go with the problem.
void check_problem(const SolveOptions& options, const std::function<bool(const std::string& option)>& given);

/// Three positive numbers with commas between them, or one that stands for "1,1,E". Throws Error(bad_option).
std::vector<double> parse_anisotropy(const std::string& text);

/// Three finite numbers with commas between them, not all 0. Throws Error(bad_option).
std::vector<double> parse_velocity(const std::string& text);

}  // namespace echelon::cli
