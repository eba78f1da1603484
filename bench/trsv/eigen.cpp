// SPDX-License-Identifier: BSD-3-Clause
// Eigen's sparse triangular solves with the factors of our ILU(0): Eigen has no ILU(0) of its own. Scalars only.
#include "bench/measure/contender_main.hpp"
#include "bench/measure/eigen_system.hpp"
#include "bench/measure/sampling.hpp"
#include "echelon/precond/ilu/ilu.hpp"

namespace {

using namespace echelon::bench;

ContenderLine measure(const BenchCase& one) {
  if (one.dof > 1) return ContenderLine::nothing(eigen_name(), "its triangular solves know no blocks");
  ContenderLine line;
  line.contender = eigen_name();
  line.method = "triangularView solves with our factors";
  // The case's matrix and our factors, L and U as block CSR, and Eigen's copies.
  require_room(one, 6, "Eigen");
  EigenMatrix L, U;
  {
    const auto M = echelon::ilu(one.make(), {.shift = echelon::ShiftPolicy::none});
    L = to_eigen(M.lower());
    U = to_eigen(M.upper());
  }
  const auto r = to_eigen(one.right_hand_side());
  EigenVector z(r.size());
  line.seconds = median_seconds(one.repeats(), [&] {
    z = r;
    L.triangularView<Eigen::UnitLower>().solveInPlace(z);
    U.triangularView<Eigen::Upper>().solveInPlace(z);
  });
  line.answer = fingerprint(from_eigen(z));
  return line;
}

}  // namespace

int main(int argc, char** argv) { return contender_main("trsv", argc, argv, measure, true); }
