// SPDX-License-Identifier: BSD-3-Clause
// The program's options as plain data, and the one way from the command line to them. Names, defaults and meanings are those
// of docs/guide/options.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echelon/precond/precond_options.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon::cli {

struct SolveOptions {
  std::string problem = "poisson";
  std::string grid = "64";
  std::string stencil;  // empty: the problem's own; else star7, or star5 on a 2-D grid
  int dof = 1;
  std::uint64_t seed = 1;
  double peclet = 10;
  std::string coefficient = "smooth";  // of varpoisson
  double contrast = 100;
  std::string anisotropy = "1,1,1";
  double dt = 0, cfl = 3;  // of the implicit steps; dt 0: by cfl
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

struct CheckOptions {
  std::string matrix;
  std::string json;
  bool quiet = false;
};

struct BenchOptions {
  std::string kind;
  std::string backend = "host";
  std::string column = "rtx3090";  // of sizes on a GPU
  std::vector<int> threads;        // empty: one, and as many as there are
  int rounds = 0;                  // 0: by the kind
  std::string only;                // cases whose name contains this
  std::string matrices;            // folder of Matrix Market files, of block
  std::vector<std::string> peers;  // empty: all that are known
  std::string contenders;          // folder; empty: beside the program
  double contender_limit = 600;    // seconds a contender may take for one case
  bool small = false;
  std::string machine, commit;
  std::string from;  // an earlier run's report: shown again, nothing is measured
  std::string json, plot;
  std::string spy;  // of trisolve
  bool quiet = false;
};

struct Options {
  /// "solve", "bench", "check", "selftest", "info"; empty when only `answer` is to be printed (--help, --version).
  std::string command;
  std::string answer;
  SolveOptions solve;
  BenchOptions bench;
  CheckOptions check;
  std::string json;  // of whichever command runs
  int threads = 0;   // for selftest and info
};

/// Arguments without the program's name. Throws Error(bad_option) with a sentence and, for a mistyped name, the nearest one.
Options parse(std::vector<std::string> arguments);

/// "64", "64x32", "64x32x16" with a stencil of two or three dimensions. Throws Error(bad_option).
Grid parse_grid(const std::string& text, const Stencil& stencil);
/// How many numbers a grid has: 1, 2 or 3.
int grid_extents(const std::string& text);

}  // namespace echelon::cli
