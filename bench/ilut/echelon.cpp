// SPDX-License-Identifier: BSD-3-Clause
// Our ILUT of block CSR: set-up is everything from the matrix to a preconditioner that can be applied.
#include "bench/ilu/measure.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/ilu/ilu.hpp"

int main(int argc, char** argv) {
  namespace ec = echelon;
  const auto c = bench::IluCase::from_command_line(argc, argv);
  ec::set_threads(c.threads);
  const auto A = c.make();
  const auto r = bench::IluCase::right_hand_side(A.rows());
  ec::Vector<double> z(A.rows());
  const ec::IluOptions options{.drop = c.drop, .lfil = c.lfil};
  const double setup = bench::median_seconds(c.repeats, [&] { const auto made = ec::ilut(A, options); });
  const auto M = ec::ilut(A, options);
  if (!M.report().ok) {
    fprintf(stderr, "%s\n", M.report().message.c_str());
    return 1;
  }
  const double apply = bench::median_seconds(c.repeats, [&] { M.apply(r, z); });
  const auto bb = std::int64_t{A.block()} * A.block();
  bench::print_result("echelon", c, A.rows(), A.nonzeros(), setup, apply, z, (M.lower().blocks() + M.upper().blocks()) * bb);
}
