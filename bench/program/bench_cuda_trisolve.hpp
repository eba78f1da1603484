// SPDX-License-Identifier: BSD-3-Clause
// A case of `echelon bench trisolve --backend cuda`: exact sweeps, what `auto` takes, and every iteration over the number of
// sweeps, each timed by events; error against the exact sweeps, GMRES iterations on the GPU, the measures of the factors;
// cuSPARSE's SpSV on the same factors, both solves together, beside each.
#pragma once

#include <vector>

#include "bench/program/bench_frame.hpp"

namespace echelon::cli {

struct TrisolvePlan {
  bool small = false;
  int repeats = 1;
  std::vector<Contender> contenders;
};

/// Throws Error when ours cannot be measured, or when its exact sweeps have not the host's bits.
CaseResult measure_device_trisolve(const bench::BenchCase& one, const TrisolvePlan& plan, const Progress& progress);

/// SpSV's L and U solves of what a contender said, as one: a method each, when both are there and the answer is ours.
std::vector<PeerTime> both_solves(const std::vector<bench::ContenderLine>& lines, const bench::Fingerprint& expected,
                                  std::string& objection);

}  // namespace echelon::cli
