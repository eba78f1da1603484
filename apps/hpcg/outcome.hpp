// SPDX-License-Identifier: BSD-3-Clause
// What a run of the benchmark found: the numbers of HPCG's report, and ours beside them.
#pragma once

#include <string>
#include <vector>

#include "apps/hpcg/cg_run.hpp"
#include "apps/hpcg/geometry.hpp"
#include "apps/hpcg/smoother.hpp"
#include "apps/hpcg/work_count.hpp"

namespace echelon::hpcg {

struct SpectralTest {
  static constexpr int allowed_unpreconditioned = 12, allowed_preconditioned = 2;
  int unpreconditioned = 0, preconditioned = 0;  // iterations, the most of two runs
  bool passed() const { return unpreconditioned <= allowed_unpreconditioned && preconditioned <= allowed_preconditioned; }
};

struct SymmetryTest {
  double spmv = 0, mg = 0;  // |x'Ay − y'Ax| / (2 ‖x‖ ‖A‖ ‖y‖ ε), and of M⁻¹
  bool passed() const { return spmv <= 1.0 && mg <= 1.0; }
};

struct NormsTest {
  double mean = 0, variance = 0;
  bool passed() const { return variance < 1e-6; }
};
NormsTest norms_test(const std::vector<double>& scaled_residuals);

struct Outcome {
  Geometry geometry;
  int threads = 1;
  std::string smoother;
  bool separate = false;
  std::string gpu;  // of the optimised run, the reference's being the host's; empty: the host
  std::vector<Optimization> optimizations;
  Verdict ended = Verdict::proceed;  // or why the run stopped before its end; what follows is then what there was

  int reference_iterations = 50, optimized_iterations = 0;
  double reference_residual = 0, residual = 0;  // over the first one; of the last set
  bool residual_reached = false;
  SpectralTest spectral;
  SymmetryTest symmetry;
  NormsTest norms;
  std::vector<double> set_residuals;

  double setup_seconds = 0, optimize_seconds = 0;
  double reference_call_seconds = 0;  // of the reference's product and V-cycle, on average
  double reference_setup_seconds = 0;
  CgSeconds reference_seconds, seconds;                                      // of the reference's run; of all sets
  double shortest_allreduce = 0, longest_allreduce = 0, mean_allreduce = 0;  // of the processes
  double optimized_bytes = 0;                                                // stored, all processes
  std::vector<double> reference_bytes;                                       // of each level
  double triad = 0;                                                          // bytes a second, all processes; a GPU's copies
  double iteration_bytes = 0;                                                // that our kernels must move, all processes

  int sets() const { return static_cast<int>(set_residuals.size()); }
  bool completed() const { return ended == Verdict::proceed; }
  bool valid() const { return completed() && spectral.passed() && symmetry.passed() && norms.passed() && residual_reached; }
  /// Of all sets, and what the reference's iterations would have needed.
  Flops flops() const;
  double rated_flops() const;
  /// GFLOP/s, set-up and optimisation charged as a tenth of each for every set.
  double rating() const;
  /// The same with optimisation alone, as HPCG 2.4 rated.
  double rating_without_setup() const;
  /// GFLOP/s of all iterations, nothing charged.
  double raw_rate() const;
  double reference_rate() const;
  /// The rate of `rated_flops` if the kernels moved their bytes as fast as triad, nothing charged.
  double bound() const;
  /// Of that, what the sets reached.
  double percent_of_bound() const;
};

}  // namespace echelon::hpcg
