// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's SpSV on CSR of scalars.
#include "bench/cusparse/measured_solves.hpp"

int main(int argc, char** argv) {
  using namespace echelon::bench;
  return cusparse_main("trsv", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    measure_solves<SpsvSolve>(session, one, true, "SpSV", say);
  });
}
