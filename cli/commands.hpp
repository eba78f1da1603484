// SPDX-License-Identifier: BSD-3-Clause
// The commands: each does its work, prints and writes, and returns the exit status. Trouble leaves as echelon::Error.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace echelon::cli {

inline constexpr int exit_done = 0;
inline constexpr int exit_not_converged = 1;
inline constexpr int exit_interrupted = 130;

int run_solve(const SolveOptions& options, const std::vector<std::string>& arguments);
int run_bench(const BenchOptions& options, const std::vector<std::string>& arguments);
int run_check(const CheckOptions& options, const std::vector<std::string>& arguments);
int run_selftest(const std::string& json, int threads);
int run_info(const std::string& json, int threads);

}  // namespace echelon::cli
