// SPDX-License-Identifier: BSD-3-Clause
// What `bench dbsr` measures, and the measurements of one case.
//   cg, mg     figure 9: every strategy to the same residual, with ILU(0) itself and with four levels smoothed by it
//   levels     figure 10's remark: four levels with bsize 8 throughout, and by level
//   sweeps     figures 8, 10, 11 and 12: both sweeps, a smoothing step, the factorization, bytes, of every format and bsize
//   symgs      one symmetric Gauss-Seidel step from zero, exact and in DBSR
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/program/bench_case_run.hpp"

namespace echelon::cli {

struct DbsrCase {
  std::string what;
  std::string stencil;
  std::int64_t side = 0;
  bool narrow = false;  // FP32 throughout: matrix, factors, vectors
  std::string name() const;
};

/// 104³ and 128³; `large`: also 192³ and, for ILU(0) on 7 points, 256³; `small`: 16³.
std::vector<DbsrCase> dbsr_cases(bool small, bool large);

struct DbsrPlan {
  std::vector<int> threads;
  int rounds = 3;                    // solves a strategy, sweeps three times as many
  std::vector<std::string> methods;  // strategies by name; empty: all. "serial" is always measured where there is a speed-up
  std::function<void(const std::string&)> progress;
};
/// Names of strategies, as --methods takes them.
std::vector<std::string> dbsr_method_names();

/// Throws Error(structure) when an answer is wrong: its residual, or unlike that of another format in the same order.
CaseResult measure_dbsr(const DbsrCase& one, const DbsrPlan& plan);

/// The figure of that name; not a number where the row has none.
double measure_of(const BenchRow& row, const std::string& name);

}  // namespace echelon::cli
