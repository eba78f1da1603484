// SPDX-License-Identifier: BSD-3-Clause
// oneMKL's mkl_sparse_d_trsv with the factors of its dcsrilu0, L and then U; what mkl_sparse_optimize does is not timed.
#include "bench/measure/contender_main.hpp"
#include "bench/measure/mkl_system.hpp"
#include "bench/measure/sampling.hpp"

namespace {

using namespace echelon::bench;

ContenderLine measure(const BenchCase& one) {
  auto line = mkl_line(one, "mkl_sparse_d_trsv");
  if (!line.not_applicable.empty()) return line;
  MklSystem system(one);
  system.factor();
  MklTriangles triangles(system);
  const auto r = one.right_hand_side();
  echelon::Vector<double> z(r.size(), 0.0);
  line.seconds = median_seconds(one.repeats(), [&] { triangles.apply(r, z); });
  line.answer = fingerprint(z);
  return line;
}

}  // namespace

int main(int argc, char** argv) { return contender_main("trsv", argc, argv, measure, true); }
