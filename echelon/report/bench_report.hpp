// SPDX-License-Identifier: BSD-3-Clause
// What a benchmark run tells, as plain data: a row for every shape, precision and thread count, the contenders beside it,
// and what is missing. Times are medians over rounds; a contender is here only when its answer was right.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "echelon/report/run_report.hpp"

namespace echelon {

/// What a time is made of: "factorization", "sweeps", …
struct TimePart {
  std::string name;
  double seconds = 0;
};

/// A figure that only some benchmarks have: "error", "departure_upper", …
struct NamedNumber {
  std::string name;
  double value = 0;
};

/// Relative residuals of a solve, each with the seconds since its set-up began.
struct ResidualAt {
  double seconds = 0, residual = 0;
};
using ResidualHistory = std::vector<ResidualAt>;

struct PeerTime {
  std::string name;    // "PETSc 3.18.5"
  std::string method;  // "seqaij ILU(0)"
  int ranks = 1;       // or threads, of a contender that runs with threads
  double seconds = 0, spread = 0, setup_seconds = 0;
  double analysis_seconds = 0;  // on a GPU: of the pattern, before the first call
  std::int64_t iterations = 0;
  double relative_residual = 0;
  std::string reason;           // how a solve ended, where that is compared
  std::vector<TimePart> parts;  // of a solve on a GPU
  ResidualHistory history;      // of mg
};

struct BenchRow {
  std::string operation;  // "ilu0 apply", "ilu0 setup", "cg + ilu0", …
  std::string name;       // of the case
  std::string problem, stencil;
  std::array<std::int64_t, 3> grid{};
  int dof = 1;
  std::int64_t n = 0, nonzeros = 0;
  std::string precision = "fp64";  // of the stored factors
  std::string basis;               // of a GMRES basis; empty without one
  int threads = 1;
  double seconds = 0, spread = 0, analysis_seconds = 0;
  double setup_seconds = 0, solve_seconds = 0;  // of a solve
  double bytes = 0, flops = 0;                  // that must be moved and computed; 0: no model
  double triad = 0, copy = 0;                   // bytes a second of this machine, on a set as large, same threads
  std::string kernel, schedule;                 // what ran
  std::int64_t iterations = 0;
  double iteration_ratio = 0;  // to the first method of a comparison; 0: none
  double relative_residual = 0;
  std::string reason;           // how a solve ended, where that is compared
  std::vector<TimePart> parts;  // of a solve on a GPU
  // Of a solve on a GPU: what set-up is made of, and what to hold it against, the matrix copied on the GPU and nothing else
  // (in older reports copied there from the host).
  std::vector<TimePart> setup_parts;
  double setup_span_seconds = 0;  // in one go, where setup_seconds are a sum of parts that were waited for; 0: not measured
  double copy_seconds = 0, upload_seconds = 0;
  std::vector<NamedNumber> measures;  // trisolve, hpcg, dbsr, mg
  ResidualHistory history;            // mg
  std::vector<PeerTime> peers;        // with as many ranks or threads as we have threads

  /// Bytes a second over `bandwidth`, in percent; 0 without a model.
  double percent_of(double bandwidth) const;
  /// The fastest contender; null without one.
  const PeerTime* best_peer() const;
};

struct NotCompared {
  std::string name, who, why;
};

struct BenchReport {
  std::string kind;
  std::string machine, commit;
  std::vector<std::string> arguments;
  BackendInfo backend;
  std::int64_t cache_bytes = 0;
  bool small = false;
  int rounds = 0;
  std::vector<std::string> contenders_found, contenders_missing;
  std::vector<BenchRow> rows;
  std::vector<NotCompared> not_compared;  // a contender that has no time for a case, and why
  std::vector<NotCompared> missing;       // a listed shape without a row of ours
};

}  // namespace echelon
