// SPDX-License-Identifier: BSD-3-Clause
// The options of `echelon solve` as plain data. Names, defaults and meanings are those of docs/guide/options.md.
#pragma once

#include <cstdint>
#include <string>

#include "cli/line/option_group.hpp"
#include "echelon/precond/precond_options.hpp"

namespace echelon::cli {

struct SolveOptions {
  std::string problem = "poisson";
  std::string grid = "64";
  std::string stencil;  // empty: the problem's own; else star7, or star5 on a 2-D grid
  int dof = 1;
  std::uint64_t seed = 1;
  double peclet = 10;
  std::string velocity = "1,0.5,0.25";
  std::string coefficient = "smooth";  // of varpoisson
  double contrast = 100;
  std::string anisotropy = "1,1,1";
  std::string boundary = "dirichlet";  // of poisson and varpoisson
  double dt = 0, cfl = 3;              // of the implicit steps; dt 0: by cfl
  double mach = 0.5, reynolds = 1000;
  double density_ratio = 1e6, radius = 0.2;  // of projection

  std::string matrix;  // a file instead of a problem
  int block = 1;
  std::string rhs;
  std::string duplicates = "sum";
  bool allow_nonfinite = false;
  std::string recognise = "auto";

  std::string solver = "auto";
  int restart = 50;
  std::string basis = "fp64";
  std::string cg_form = "auto", product = "auto";
  double rtol = 1e-8, atol = 0, nrbe = 0;
  std::int64_t max_it = 1000;
  std::string null_space = "auto";  // constant for problems that need it, none for others and for files
  double time_limit = 0;            // seconds; 0 is none

  std::string pc = "auto";
  PrecondOptions precond;  // by the options that the registry's entries name
  bool strict = false;

  std::string backend = "auto";
  int threads = 0;

  std::string solution, json, history, plot;
  bool quiet = false;
  bool verbose = false;

  bool duplicates_given = false;
};

/// Puts them into the parser's groups of `echelon solve --help`.
void add_solve_options(const OptionList& options, SolveOptions& o);

}  // namespace echelon::cli
