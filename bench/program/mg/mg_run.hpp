// SPDX-License-Identifier: BSD-3-Clause
// One case of `bench mg`: triad, our methods and the contender's settings in turn, round by round. Every answer is judged by
// ‖b − A x‖ with our matrix before its times count.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/program/bench_case_run.hpp"
#include "bench/program/mg/mg_methods.hpp"

namespace echelon::cli {

struct MgPlan {
  std::vector<int> threads;  // also the ranks of contenders
  int rounds = 3;
  std::vector<std::string> methods;  // by name; empty: the usual ones
  std::vector<Contender> contenders;
  std::function<void(const std::string&)> progress;  // what is being done now
};

/// A method that fails is `missing` and does not keep the others from their rows.
CaseResult measure_mg(const bench::BenchCase& one, const MgPlan& plan);

}  // namespace echelon::cli
