// SPDX-License-Identifier: BSD-3-Clause
// One run of HPCG as a child process: ours, or a reference program, alone or under mpirun.
#pragma once

#include <cstdint>
#include <string>

#include "echelon/report/bench_report.hpp"

namespace echelon::cli {

/// Who runs where: a local grid of side³ a process.
struct HpcgLayout {
  std::int64_t side = 104;
  int ranks = 1, threads = 1;
};

struct HpcgRun {
  std::string what;   // "HPCG 3.1"; of ours empty
  double rating = 0;  // GFLOP/s, charged with set-up
  double raw = 0, bound = 0, percent_of_bound = 0, triad = 0;
  double setup_iterations = 0;  // set-up and optimisation in iterations' time
  std::int64_t iterations = 0;
  double residual = 0;
  std::int64_t equations = 0, nonzeros = 0, grid[3] = {};
};

/// `echelon hpcg`. Throws Error(structure) with its words when it was not VALID, Error(file_missing) without mpirun.
HpcgRun run_own_hpcg(const HpcgLayout& layout, const std::string& smoother, double seconds, double limit);
/// A program that takes --nx, --ny, --nz and --rt and leaves HPCG's report in its folder, here a fresh one.
HpcgRun run_reference_hpcg(const HpcgLayout& layout, const std::string& program, double seconds, double limit);
/// What HPCG's report says. Throws Error(structure) unless it has a VALID rating.
HpcgRun read_hpcg_report(const std::string& text);

/// Flops of one rated set: 50 iterations.
double rated_set_flops(const HpcgRun& run);

}  // namespace echelon::cli
