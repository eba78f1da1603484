// SPDX-License-Identifier: BSD-3-Clause
// Everything a run of the program tells about itself, as plain data: what json.cpp writes and the program prints.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/report/report.hpp"

namespace echelon {

struct ProblemInfo {
  std::string name;  // "poisson", or the file's path
  std::int64_t n = 0, nnz = 0;
  int block = 1;
  std::optional<std::array<std::int64_t, 3>> grid;
  std::string stencil;  // empty for files
};

struct BackendInfo {
  std::string kind = "host";
  std::string name;
  int threads = 1;
  std::string simd;
  double copy_bandwidth = 0;  // bytes a second; 0: not measured
};

struct PhaseSeconds {
  double read = 0, assemble = 0, setup = 0, solve = 0, total = 0;
  double convert = 0;  // of a matrix on the host to a GPU and into its order there
};

/// One attempt of the automatic choice.
struct AttemptSummary {
  std::string name, why, outcome, message;
  std::int64_t iterations = 0;
  double relative_residual = 1, setup_seconds = 0, solve_seconds = 0;
};

/// A file that could not be written; what was computed is as good as it was.
struct OutputError {
  std::string option, file, message;
};

struct RunReport {
  std::string command;
  std::vector<std::string> arguments;
  ProblemInfo problem;
  BackendInfo backend;
  Report result;
  std::string choice, why;
  bool automatic = false;  // --pc auto: the choice is the program's, and a whole ladder stands behind it
  std::vector<AttemptSummary> attempts;
  PhaseSeconds seconds;
  std::string solution_hash;
  double rtol = 0, atol = 0;
  std::vector<OutputError> output_errors;
};

/// What `check` found; see docs/guide/json.md.
struct CheckReport {
  std::vector<std::string> arguments;
  std::string path, symmetry_in_file, field;
  std::int64_t rows = 0, columns = 0, nnz = 0;
  std::int64_t duplicates = 0, explicit_zeros = 0, nonfinite = 0;
  int block_guess = 1;
  double block_density = 1;
  bool pattern_symmetric = false, symmetric = false;
  double asymmetry = 0;
  std::int64_t missing_diagonals = 0, zero_diagonals = 0, negative_diagonals = 0, weak_diagonals = 0, dominant_rows = 0;
  std::int64_t empty_rows = 0, empty_columns = 0;
  std::int64_t structural_rank = 0;
  std::vector<std::int64_t> unmatched_rows;  // the first ten, counted from one
  std::int64_t ilu0_bytes = 0;
  bool solvable = false;
  std::vector<std::string> advice;
  /// The size line was enough, and no entry was looked at: of the rest only name, field, symmetry, rows, columns and advice
  /// mean something, and structural_rank is the most it can be.
  bool sizes_only = false;
  std::int64_t entries_promised = 0;
};

struct InfoReport {
  BackendInfo backend;
  bool cuda_built = false;
  bool mpi_built = false;
  std::int64_t memory_bytes = 0, cache_bytes = 0;
  std::vector<std::string> gpus;
};

struct SelftestCase {
  std::string method, problem, outcome;
  bool passed = false;
  double relative_residual = 0, seconds = 0;
  std::int64_t iterations = 0;
};

}  // namespace echelon
