// SPDX-License-Identifier: BSD-3-Clause
// A solve on a GPU and what its time is made of: products and sweeps between marks around each call, which stay on the
// stream, and the rest: vector work, waits, memory. Ours and contenders are timed by the same code.
#pragma once

#include "bench/measure/bench_case.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/report/bench_report.hpp"

namespace echelon::bench {

struct TimedSolve {
  Report report;
  double seconds = 0;
  std::vector<TimePart> parts;  // sweeps, products, vector work
};

/// From x = 0. Throws Error(structure) when it does not converge.
TimedSolve timed_solve(const BenchCase& one, const Operator<double>& A, const Vector<double>& b, Vector<double>& x,
                       const Preconditioner<double>& M);

}  // namespace echelon::bench
