// SPDX-License-Identifier: BSD-3-Clause
// Our block CSR ILU(0): set-up is everything from the matrix to a preconditioner that can be applied.
#include "bench/ilu/measure.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/schedule/rows/sweep_plan.hpp"

namespace {

echelon::SweepSchedule schedule_named(const std::string& name) {
  using enum echelon::SweepSchedule;
  for (const auto kind : {sequential, levels, point_to_point}) {
    if (name == echelon::word(kind)) return kind;
  }
  return automatic;
}

}  // namespace

int main(int argc, char** argv) {
  namespace ec = echelon;
  const auto c = bench::IluCase::from_command_line(argc, argv);
  ec::set_threads(c.threads);
  const auto A = c.make();
  const auto r = bench::IluCase::right_hand_side(A.rows());
  ec::Vector<double> z(A.rows());
  const ec::IluOptions options{.shift = ec::ShiftPolicy::none, .schedule = schedule_named(c.schedule)};
  const double setup = bench::median_seconds(c.repeats, [&] { const auto made = ec::ilu(A, options); });
  const auto M = ec::ilu(A, options);
  if (!M.report().ok) {
    fprintf(stderr, "%s\n", M.report().message.c_str());
    return 1;
  }
  const int applications = A.nonzeros() < 1'000'000 ? 200 : 3;
  const double apply = bench::median_seconds(c.repeats,
                                             [&] {
                                               for (int i = 0; i < applications; ++i) M.apply(r, z);
                                             }) /
                       applications;
  bench::print_result("echelon", c, A.rows(), A.nonzeros(), setup, apply, z);
}
