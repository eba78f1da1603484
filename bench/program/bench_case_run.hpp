// SPDX-License-Identifier: BSD-3-Clause
// One benchmark case: bandwidth, ours and the contenders in turn, round by round, so that all meet the same noise.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/program/bench_contenders.hpp"
#include "bench/program/bench_ours.hpp"

namespace echelon::cli {

struct CasePlan {
  std::vector<int> threads;  // also the ranks of contenders
  int rounds = 1;
  std::vector<Contender> contenders;
  std::function<void(const std::string&)> progress;  // what is being done now
};

struct CaseResult {
  std::vector<BenchRow> rows;
  std::vector<NotCompared> not_compared;
  std::vector<NotCompared> missing;  // what makes the run fail though it has a row
};

/// Throws Error when ours cannot be measured, or when its answer depends on the number of threads.
CaseResult measure_case(const bench::BenchCase& one, const CasePlan& plan);

}  // namespace echelon::cli
