// SPDX-License-Identifier: BSD-3-Clause
// oneMKL's dcsrilu0, the rows being there in its one-based form; it runs on one thread whatever their number. What its
// sweeps need besides (mkl_sparse_optimize) is not counted. One application afterwards is the answer.
#include "bench/measure/contender_main.hpp"
#include "bench/measure/mkl_system.hpp"
#include "bench/measure/sampling.hpp"

namespace {

using namespace echelon::bench;

ContenderLine measure(const BenchCase& one) {
  auto line = mkl_line(one, "dcsrilu0");
  if (!line.not_applicable.empty()) return line;
  MklSystem system(one);
  line.seconds = median_seconds(one.repeats(), [&] { system.factor(); });
  line.setup_seconds = line.seconds;
  const auto r = one.right_hand_side();
  echelon::Vector<double> z(r.size(), 0.0);
  MklTriangles(system).apply(r, z);
  line.answer = fingerprint(z);
  return line;
}

}  // namespace

int main(int argc, char** argv) { return contender_main("factor", argc, argv, measure, true); }
