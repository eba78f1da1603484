// SPDX-License-Identifier: BSD-3-Clause
// The shapes every benchmark run must show. Sizes: factors and vectors together are 0.6 to 1 GB, twice a cache of 300 MiB.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/bench_case.hpp"

namespace echelon::bench {

std::vector<std::string> kinds();

/// All cases of a kind; `small`: the same list on tiny grids whose sides differ, for tests and a first look.
std::vector<BenchCase> shapes(const std::string& kind, bool small);

}  // namespace echelon::bench
