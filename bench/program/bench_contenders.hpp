// SPDX-License-Identifier: BSD-3-Clause
// The contenders of a benchmark: programs bench_<kind>_<name> that print one JSON line, found beside this one. One process
// a measurement, alone or with threads of its own, or several ranks under mpirun.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/bench_case.hpp"
#include "bench/measure/contender_line.hpp"
#include "bench/program/bench_options.hpp"

namespace echelon::cli {

/// How a contender takes more than one core.
enum class Workers { one, ranks, threads };

struct Contender {
  std::string name;  // "petsc"
  std::string path;
  Workers workers = Workers::one;
  double seconds = 600;  // after which it is ended
};

struct Contenders {
  std::vector<Contender> found;
  std::vector<std::string> missing;
};

std::vector<std::string> contender_names(const std::string& kind);
/// Programs of cuSPARSE for a kind on a GPU: a routine each.
std::vector<std::string> device_contender_names(const std::string& kind);
/// On the host or on a GPU, whatever the kind.
std::vector<std::string> all_contender_names();

/// In the folder of `--contenders`, which must be one (Error(bad_option)); without it in the program's own folder or, in a
/// build tree, in bench/ beside that.
Contenders find_contenders(const std::string& kind, const std::vector<std::string>& names, const BenchOptions& options);

/// On `count` ranks or threads. Throws Error with the contender's last words when it did not give a line.
bench::ContenderLine run_contender(const Contender& contender, const bench::BenchCase& one, int count);

/// What a contender said that has several lines, an operation each, and why it said no more; empty when it ended well.
struct SaidLines {
  std::vector<bench::ContenderLine> lines;
  std::string trouble;
};
SaidLines run_device_contender(const Contender& contender, const bench::BenchCase& one);
/// On the host.
SaidLines run_contender_lines(const Contender& contender, const bench::BenchCase& one, int ranks);

/// Of the repository around the program, "-dirty" appended when it has changes; empty without one.
std::string program_commit();

}  // namespace echelon::cli
