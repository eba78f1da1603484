// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's csrilu02, without and with level information, and SpSV, on the scalars of a block CSR matrix.
#include "bench/cusparse/measured_block.hpp"
#include "bench/measure/block_matrix.hpp"

int main(int argc, char** argv) {
  using namespace echelon::bench;
  return cusparse_main("block", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    auto rows = device_rows(block_matrix(one), true);
    for (const auto policy : {CUSPARSE_SOLVE_POLICY_NO_LEVEL, CUSPARSE_SOLVE_POLICY_USE_LEVEL}) {
      Csrilu02 ilu(session, rows, policy);
      const bool levels = policy == CUSPARSE_SOLVE_POLICY_USE_LEVEL;
      measure_block<SpsvSolve>(session, rows, ilu, levels ? "csrilu02 with levels + SpSV" : "csrilu02 without levels + SpSV",
                               say);
    }
  });
}
