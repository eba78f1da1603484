// SPDX-License-Identifier: BSD-3-Clause
// The frame of a contender's program: read the case, measure, print the line; trouble is a sentence and status 2 or 3.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "bench/measure/bench_case.hpp"
#include "bench/measure/contender_line.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::bench {

/// measure(case, say) calls say(line) for every line, at once written out: a contender may die before the next.
template <class Measure>
int contender_lines_main(const char* kind, int argc, char** argv, const Measure& measure) {
  try {
    const auto one = BenchCase::from_arguments(kind, argc, argv);
    measure(one, [](const ContenderLine& line) {
      std::puts(to_line(line).c_str());
      std::fflush(stdout);
    });
    return 0;
  } catch (const Error& error) {
    std::fputs(fmt::format("{}\n", error.what()).c_str(), stderr);
    return exit_status(error.code());
  } catch (const std::bad_alloc&) {
    std::fputs("memory ran out\n", stderr);
    return 3;
  }
}

/// measure(case) returns the line; `prints` is false on MPI ranks other than 0.
template <class Measure>
int contender_main(const char* kind, int argc, char** argv, const Measure& measure, bool prints) {
  return contender_lines_main(kind, argc, argv, [&](const BenchCase& one, const auto& say) {
    const ContenderLine line = measure(one);
    if (prints) say(line);
  });
}

/// ‖b − A x‖/‖b‖ with our own matrix.
double true_residual(const BenchCase& one, const Vector<double>& x);

}  // namespace echelon::bench
