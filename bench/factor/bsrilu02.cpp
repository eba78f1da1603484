// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's bsrilu02 on BSR, with level information; U⁻¹ L⁻¹ r by bsrsv2 is the answer.
#include "bench/cusparse/factorizations.hpp"
#include "bench/cusparse/measured.hpp"
#include "bench/cusparse/triangular_solves.hpp"

namespace {

using namespace echelon::bench;
using echelon::Triangle;

template <class Say>
void measure(const CusparseSession& session, const BenchCase& one, const Say& say) {
  if (one.dof == 1) return say(ContenderLine::nothing(session.name, "bsrilu02 is for blocks"));
  const auto shape = ValueShape::of(one, ValueKind::matrix);
  auto rows = device_rows(shape, {0, shape.entries}, false);
  ContenderLine line;
  line.contender = session.name;
  line.method = "bsrilu02";
  line.operation = "factor";
  {
    const auto values = rows.values.clone();
    Bsrilu02 ilu(session, rows);
    line.setup_seconds = device_measure()->seconds([&] { ilu.analyse(); });
    line.seconds = cusparse_seconds([&] { ilu.factor(); }, [&] { rows.values.copy_from(values); });
  }
  CaseVectors vectors(one);
  echelon::Vector<double> y(one.rows(), echelon::Device::cuda());
  Bsrsv2Solve lower(session, rows, Triangle::lower, {vectors.r.data(), y.data()});
  Bsrsv2Solve upper(session, rows, Triangle::upper, {y.data(), vectors.x.data()});
  for (auto* solve : {&lower, &upper}) {
    solve->analyse();
    solve->solve();
  }
  line.answer = vectors.answer();
  say(line);
}

}  // namespace

int main(int argc, char** argv) {
  return cusparse_main("factor", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    measure(session, one, say);
  });
}
