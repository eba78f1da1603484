// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's csrilu02 on CSR of scalars, without and with level information. Blocks are full, so its factors are ours, and
// U⁻¹ L⁻¹ r by SpSV is the answer.
#include "bench/cusparse/factorizations.hpp"
#include "bench/cusparse/measured.hpp"
#include "bench/cusparse/triangular_solves.hpp"

namespace {

using namespace echelon::bench;
using echelon::Triangle;

Fingerprint applied(const CusparseSession& session, const DeviceRows& factors, const BenchCase& one) {
  CaseVectors vectors(one);
  echelon::Vector<double> y(one.rows(), echelon::Device::cuda());
  SpsvSolve lower(session, factors, Triangle::lower, {vectors.r.data(), y.data()});
  SpsvSolve upper(session, factors, Triangle::upper, {y.data(), vectors.x.data()});
  for (auto* solve : {&lower, &upper}) {
    solve->analyse();
    solve->solve();
  }
  return vectors.answer();
}

template <class Say>
void measure(const CusparseSession& session, const BenchCase& one, const Say& say) {
  const auto shape = ValueShape::of(one, ValueKind::matrix);
  auto rows = device_rows(shape, {0, shape.entries}, true);
  const auto values = rows.values.clone();
  for (const auto policy : {CUSPARSE_SOLVE_POLICY_NO_LEVEL, CUSPARSE_SOLVE_POLICY_USE_LEVEL}) {
    ContenderLine line;
    line.contender = session.name;
    line.method = policy == CUSPARSE_SOLVE_POLICY_NO_LEVEL ? "csrilu02 without levels" : "csrilu02 with levels";
    line.operation = "factor";
    {
      rows.values.copy_from(values);
      Csrilu02 ilu(session, rows, policy);
      line.setup_seconds = device_measure()->seconds([&] { ilu.analyse(); });
      line.seconds = cusparse_seconds([&] { ilu.factor(); }, [&] { rows.values.copy_from(values); });
    }
    line.answer = applied(session, rows, one);
    say(line);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return cusparse_main("factor", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    measure(session, one, say);
  });
}
