// SPDX-License-Identifier: BSD-3-Clause
// Our Krylov methods with cuSPARSE's products, ILU(0) and triangular solves: on blocks bsrilu02, bsrsv2 and bsrmv, on
// scalars csrilu02, SpSV and SpMV, a line each. Fill is ILU(0) of the grown pattern; of a symmetric matrix ILU is IC. The
// clock of a line runs for the numeric factorization and the iteration; all analyses are its set-up, warm.
#include "bench/cusparse/whole_solve.hpp"

namespace {

using namespace echelon;
using namespace echelon::bench;

template <class Solve>
ContenderLine solved(const CusparseSession& session, const CusparseSystem& system, const DeviceRows& factors,
                     Factored factored) {
  const auto rows = system.rows(0, factors.block == 1);
  Vector<double> x(system.b.size(), Device::cuda());
  ContenderLine line = run_whole_solve<Solve>(session, system.one, rows, factors, factored, system.b_on_gpu, x);
  system.judge(x.to(Device::host()), line);
  return line;
}

template <class Say>
void measure(const CusparseSession& session, const BenchCase& one, const Say& say) {
  const CusparseSystem system(one);
  // Blocks first: csrilu02 faults on some sizes.
  if (one.dof > 1) {
    auto factors = system.rows(one.fill, false);
    const Factored factored = factor(factors, Bsrilu02(session, factors));
    auto line = solved<Bsrsv2Solve>(session, system, factors, factored);
    line.method = "bsrilu02, bsrsv2, bsrmv";
    say(line);
  }
  auto factors = system.rows(one.fill, true);
  const auto [best, levels] = factor_scalars(session, factors);
  auto line = solved<SpsvSolve>(session, system, factors, best);
  line.method = levels ? "csrilu02 with levels, SpSV, SpMV" : "csrilu02 without levels, SpSV, SpMV";
  say(line);
}

}  // namespace

int main(int argc, char** argv) {
  return cusparse_main("solver", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    measure(session, one, say);
  });
}
