// SPDX-License-Identifier: BSD-3-Clause
// One case of `echelon bench`: which matrix, which right-hand side, what is timed. The program and every contender build
// their case here, so all factor the same matrix and meet the same vector.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::bench {

/// What a case says of its problem beside name, stencil and grid, in the words of `echelon solve`. Defaults are the
/// program's.
struct ProblemWords {
  std::string coefficient = "smooth";  // of varpoisson
  double contrast = 100;
  double anisotropy[3] = {1, 1, 1};
  double peclet = 10;  // of convdiff
  double velocity[3] = {1, 0.5, 0.25};
  bool recirculating = false;
  bool closed = false;  // --boundary neumann

  /// What differs from the defaults, a blank in front of each: " regions 1000", " 1:1:100", " pe 1000 along 1,0.5,0.25".
  std::string name() const;
  /// The same as options, which `read` takes back.
  std::vector<std::string> arguments() const;
  /// False for an option that is none of these. Throws Error(bad_option) for a word or number that is not legal.
  bool read(const std::string& option, const std::string& value);

  problems::VarPoissonOptions var_poisson(std::uint64_t seed) const;
  problems::ConvDiffOptions conv_diff() const;
  problems::Boundary boundary() const;
};

struct BenchCase {
  static constexpr std::uint64_t seed = 1;  // of the problem "random", and of random coefficients

  /// trsv: one L⁻¹ and U⁻¹; factor: a whole ILU(0) set-up; solver, convergence, mg: set-up and iteration; block: all of them
  /// for a matrix in block CSR, which block_matrix.hpp makes
  std::string kind = "trsv";
  std::string problem = "poisson";
  std::string stencil = "star7";
  Grid grid{8, 8, 8};
  int dof = 1;
  std::string solver = {};  // "cg" or "gmres" (right-preconditioned), for solves only
  int restart = 30;
  int fill = 0;  // of a solve's preconditioner
  double rtol = 1e-8;
  std::string numbering = {};  // of the rows of block CSR: "natural", "random", "rcm"
  std::string file = {};       // Matrix Market, for block CSR, in place of a problem
  ProblemWords words = {};     // what else is said of the problem
  std::string setting = {};    // of a contender that has several: this one beside its default; empty: all

  /// "poisson star7 192x192x192 b=1", with "cg " or "gmres(30) " in front for a solve and " fill 1" or " rcm" behind;
  /// "matrix sherman5 b=1".
  std::string name() const;
  /// What `from_arguments` reads back.
  std::vector<std::string> arguments() const;
  /// Throws Error(bad_option) for anything it does not know.
  static BenchCase from_arguments(const std::string& kind, int argc, char** argv);

  StructMatrix<double> make() const;
  /// The same as rows that a device writes.
  problems::Rows make_rows(Device device) const;
  /// sin of the row number, which no method could special-case; for a solve the program's default: 1, or sources that
  /// balance.
  Vector<double> right_hand_side() const;
  std::int64_t rows() const { return grid.points() * dof; }
  bool is_solve() const { return kind == "solver" || kind == "convergence" || kind == "mg"; }
  /// Where x is only known but for a constant, x less its mean.
  void fix_constant(Vector<double>& x) const;
  bool symmetric() const { return problem == "poisson" || problem == "varpoisson"; }
  /// Of the matrix in user order, entries outside the grid included.
  std::int64_t matrix_bytes() const;
  /// How often one process repeats the timed work in a round, after one that does not count (a solve: once, no warm-up).
  int repeats() const;
};

/// Throws Error(will_not_fit) unless this many times the matrix, and 40 vectors, can be had.
void require_room(const BenchCase& one, double matrices, const std::string& who);

}  // namespace echelon::bench
