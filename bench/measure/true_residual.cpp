// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "bench/measure/contender_main.hpp"

namespace echelon::bench {

double true_residual(const BenchCase& one, const Vector<double>& x) {
  const auto A = one.make();
  const auto b = one.right_hand_side();
  Vector<double> r(b.size());
  A.careful_residual(b, x, r);
  double rr = 0, bb = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) {
    rr += r[i] * r[i];
    bb += b[i] * b[i];
  }
  return std::sqrt(rr / bb);
}

}  // namespace echelon::bench
