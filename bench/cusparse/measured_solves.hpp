// SPDX-License-Identifier: BSD-3-Clause
// The lower and the upper sweep of a case by one of cuSPARSE's triangular solves, a line each.
#pragma once

#include "bench/cusparse/measured.hpp"
#include "bench/cusparse/triangular_solves.hpp"

namespace echelon::bench {

/// Only the triangle that is solved with is given: the smallest form cuSPARSE takes.
template <class Solve, class Say>
void measure_solves(const CusparseSession& session, const BenchCase& one, bool as_scalars, const char* method,
                    const Say& say) {
  const auto shape = ValueShape::of(one, ValueKind::factors);
  CaseVectors vectors(one);
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const bool lower = triangle == Triangle::lower;
    const EntryRange entries = lower ? EntryRange{0, shape.center} : EntryRange{shape.center, shape.entries};
    const auto rows = device_rows(shape, entries, as_scalars);
    Solve solve(session, rows, triangle, {vectors.r.data(), vectors.x.data()});
    ContenderLine line;
    line.contender = session.name;
    line.method = method;
    line.operation = lower ? "lower" : "upper";
    line.setup_seconds = device_measure()->seconds([&] { solve.analyse(); });
    line.seconds = cusparse_seconds([&] { solve.solve(); });
    line.answer = vectors.answer();
    say(line);
  }
}

}  // namespace echelon::bench
