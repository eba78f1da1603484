// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's bsrsv2 on BSR, with level information.
#include "bench/cusparse/measured_solves.hpp"

int main(int argc, char** argv) {
  using namespace echelon::bench;
  return cusparse_main("trsv", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    if (one.dof == 1) return say(ContenderLine::nothing(session.name, "bsrsv2 is for blocks"));
    measure_solves<Bsrsv2Solve>(session, one, false, "bsrsv2", say);
  });
}
