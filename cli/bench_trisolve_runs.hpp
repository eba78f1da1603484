// SPDX-License-Identifier: BSD-3-Clause
// The runs of `bench trisolve` and what the host finds out about each; a place (the host, a GPU) adds its times.
#pragma once

#include <string>
#include <vector>

#include "cli/bench_case_run.hpp"
#include "echelon/precond/ilu.hpp"

namespace echelon::cli {

struct TrisolveRun {
  std::string name;  // "jacobi 10"
  TrisolveOptions options;
};
std::vector<TrisolveRun> trisolve_runs(bool small);

/// Of the projections of paper 2's sizes, of a biharmonic problem whose iteration diverges, and of a large star7.
std::vector<bench::BenchCase> trisolve_cases(bool small);

class TrisolveCase {
 public:
  explicit TrisolveCase(const bench::BenchCase& one);

  const BlockCsr<double>& matrix() const { return A_; }
  const Vector<double>& right_hand_side() const { return r_; }
  IluOptions ilu_options(const TrisolveRun& run) const;
  /// Everything but the times: error, iterations, measures, the guard's verdict.
  BenchRow row(const TrisolveRun& run, const Ilu<double>& M) const;

 private:
  std::int64_t iterations(const Ilu<double>& M, std::string& reason, double& residual) const;

  bench::BenchCase one_;
  BlockCsr<double> A_;
  Vector<double> r_, b_;
  bool singular_;
  Vector<double> exact_;
};

}  // namespace echelon::cli
