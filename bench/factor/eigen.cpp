// SPDX-License-Identifier: BSD-3-Clause
// Eigen's IncompleteCholesky in natural order, for symmetric scalars. It keeps the largest entries of a column instead of
// the matrix' pattern, so it is not IC(0) and its answer is compared only roughly.
#include "bench/measure/contender_main.hpp"
#include "bench/measure/eigen_system.hpp"
#include "bench/measure/sampling.hpp"

namespace {

using namespace echelon::bench;
using Cholesky = Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>>;

ContenderLine measure(const BenchCase& one) {
  if (!one.symmetric()) {
    return ContenderLine::nothing(eigen_name(), "it has no ILU(0), and its incomplete Cholesky needs symmetry");
  }
  ContenderLine line;
  line.contender = eigen_name();
  line.method = "IncompleteCholesky";
  line.same_method = false;
  require_room(one, 6, "Eigen");
  const auto A = to_eigen(row_slab(one.make(), owned_points(one.grid, 0, 1)));
  Cholesky cholesky;
  line.seconds = median_seconds(one.repeats(), [&] { cholesky.compute(A); });
  line.setup_seconds = line.seconds;
  if (cholesky.info() != Eigen::Success) {
    throw echelon::Error(echelon::ErrorCode::structure, "Eigen's incomplete Cholesky failed");
  }
  const EigenVector z = cholesky.solve(to_eigen(one.right_hand_side()));
  line.answer = fingerprint(from_eigen(z));
  return line;
}

}  // namespace

int main(int argc, char** argv) { return contender_main("factor", argc, argv, measure, true); }
