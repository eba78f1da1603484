// SPDX-License-Identifier: BSD-3-Clause
// Our side of a benchmark case on a GPU: what is timed there, and the answers contenders must meet.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/measure/bench_case.hpp"
#include "bench/measure/contender_line.hpp"
#include "echelon/base/stored.hpp"

namespace echelon::cli {

struct DeviceOperation {
  std::string name;   // "lower sweep", "to tile order", …
  std::string peers;  // what contenders call it; empty: they have no such thing
  Stored precision = Stored::fp64;
  std::vector<double> samples;     // seconds
  std::vector<double> one_by_one;  // of the same work on one vector after another, where there are several
  double tables_seconds = 0;       // on the host, once a grid and stencil: what takes the place of an analysis
  double bytes = 0, flops = 0;
  std::string kernel;
  bench::Fingerprint answer;
};

enum class DeviceScope {
  everything,
  main,    // what the comparison is about: FP64 sweeps or the factorization
  stages,  // the same with parts of the method switched off
  many,    // sweeps on 1, 2, 4 and 8 vectors at once
};

struct DevicePlan {
  int repeats = 1;
  DeviceScope scope = DeviceScope::everything;
};

/// Throws Error when something cannot be measured, or an answer in short storage or of a stage is far from that in FP64.
std::vector<DeviceOperation> measure_on_device(const bench::BenchCase& one, const DevicePlan& plan);

}  // namespace echelon::cli
