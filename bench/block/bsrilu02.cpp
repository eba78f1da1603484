// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's bsrilu02 and bsrsv2, with level information, on a block CSR matrix.
#include "bench/cusparse/measured_block.hpp"
#include "bench/measure/block_matrix.hpp"

int main(int argc, char** argv) {
  using namespace echelon::bench;
  return cusparse_main("block", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    if (one.dof == 1) return say(ContenderLine::nothing(session.name, "bsrilu02 is for blocks"));
    auto rows = device_rows(block_matrix(one), false);
    Bsrilu02 ilu(session, rows);
    measure_block<Bsrsv2Solve>(session, rows, ilu, "bsrilu02 + bsrsv2", say);
  });
}
