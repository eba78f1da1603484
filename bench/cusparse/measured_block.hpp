// SPDX-License-Identifier: BSD-3-Clause
// A block CSR matrix factored and swept by one pair of cuSPARSE's routines, five lines: analysis (of the factorization and
// both solves together), factor, refactor (what a user needs: A copied first, which the routine would write over, and its
// pivots asked for, which waits), lower, upper. The answer of each is U⁻¹ L⁻¹ r: scalar and block factors differ within a
// row of blocks, their product does not.
#pragma once

#include "bench/cusparse/block_rows.hpp"
#include "bench/cusparse/factorizations.hpp"
#include "bench/cusparse/measured.hpp"
#include "bench/cusparse/triangular_solves.hpp"

namespace echelon::bench {

/// `rows` hold A and then its factors; `method` names the pair.
template <class Solve, class Factorization, class Say>
void measure_block(const CusparseSession& session, DeviceRows& rows, Factorization& ilu, const std::string& method,
                   const Say& say) {
  ContenderLine line;
  line.contender = session.name;
  line.method = method;
  const auto values = rows.values.clone();
  const double of_factor = device_measure()->seconds([&] { ilu.analyse(); });
  const double factor = cusparse_seconds([&] { ilu.factor(); }, [&] { rows.values.copy_from(values); });
  const double refactor = cusparse_seconds([&] {
    rows.values.copy_from(values);
    ilu.factor();
    ilu.check_pivots();
  });

  CaseVectors vectors(std::int64_t{rows.rows} * rows.block);
  Vector<double> y(vectors.x.size(), Device::cuda());
  const auto lower_rows = triangle_of(rows, Triangle::lower), upper_rows = triangle_of(rows, Triangle::upper);
  Solve lower(session, lower_rows, Triangle::lower, {vectors.r.data(), y.data()});
  Solve upper(session, upper_rows, Triangle::upper, {y.data(), vectors.x.data()});
  const double of_lower = device_measure()->seconds([&] { lower.analyse(); });
  const double of_upper = device_measure()->seconds([&] { upper.analyse(); });
  const double down = cusparse_seconds([&] { lower.solve(); }), up = cusparse_seconds([&] { upper.solve(); });
  line.answer = vectors.answer();
  const auto tell = [&](const char* operation, double seconds, double analysis) {
    line.operation = operation;
    line.seconds = seconds;
    line.setup_seconds = analysis;
    say(line);
  };
  tell("analysis", of_factor + of_lower + of_upper, 0);
  tell("factor", factor, of_factor);
  tell("refactor", refactor, of_factor);
  tell("lower", down, of_lower);
  tell("upper", up, of_upper);
  rows.values.copy_from(values);
}

}  // namespace echelon::bench
