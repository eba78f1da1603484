// SPDX-License-Identifier: BSD-3-Clause
// The runs of `bench trisolve` and what is found out about each; a place (the host, a GPU) adds its times.
#pragma once

#include <string>
#include <vector>

#include "bench/program/bench_case_run.hpp"
#include "echelon/precond/ilu/ilu.hpp"

namespace echelon::cli {

struct TrisolveRun {
  std::string name;  // "jacobi 10"
  TrisolveOptions options;
};
/// Every kind over the number of sweeps, fewer numbers for a large case.
std::vector<TrisolveRun> trisolve_runs(const bench::BenchCase& one, bool small);

/// Of the projections of paper 2's sizes, of a biharmonic problem whose iteration diverges, and of a star7 that is large for
/// the host or for a GPU.
std::vector<bench::BenchCase> trisolve_cases(bool small, Device device);
/// The pattern of L + U of a case as SVG.
std::string trisolve_spy(const bench::BenchCase& one);

class TrisolveCase {
 public:
  explicit TrisolveCase(const bench::BenchCase& one);

  const BlockCsr<double>& matrix() const { return A_; }
  const Vector<double>& right_hand_side() const { return r_; }
  IluOptions ilu_options(const TrisolveRun& run) const;
  /// Error of z = M⁻¹ r, which is on the host, the measures and the guard's verdict.
  BenchRow row(const TrisolveRun& run, const FactorReport& report, const Vector<double>& z) const;
  /// GMRES with M on A, a copy of the matrix where M is.
  void count_iterations(const Operator<double>& A, const Preconditioner<double>& M, Device device, BenchRow& row) const;
  /// Condition numbers of U and of U scaled by singular values, when it is small.
  void add_conditions(const Ilu<double>& exact, BenchRow& row) const;

 private:
  bench::BenchCase one_;
  BlockCsr<double> A_;
  Vector<double> r_, b_;
  bool singular_;
  Vector<double> exact_;
};

}  // namespace echelon::cli
