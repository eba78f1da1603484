// SPDX-License-Identifier: BSD-3-Clause
#include "bench/ilu/measure.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "echelon/base/timer.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/projection.hpp"
#include "echelon/stencil/stencil.hpp"

namespace bench {

namespace ec = echelon;

IluCase IluCase::from_command_line(int argc, char** argv) {
  IluCase c;
  CLI::App app("ILU(0): set-up and one application");
  app.add_option("--matrix", c.matrix);
  app.add_option("--problem", c.problem)->check(CLI::IsMember({"projection"}));
  app.add_option("--grid", c.grid);
  app.add_option("--stencil", c.stencil);
  app.add_option("--block", c.block);
  app.add_option("--threads", c.threads);
  app.add_option("--repeats", c.repeats);
  app.add_option("--lfil", c.lfil);
  app.add_option("--drop", c.drop);
  app.add_option("--schedule", c.schedule)->check(CLI::IsMember({"automatic", "sequential", "levels", "point-to-point"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  return c;
}

ec::BlockCsr<double> IluCase::make() const {
  if (!matrix.empty()) {
    auto A = ec::with_full_diagonal(ec::read_matrix_market(matrix).matrix);
    return block == 1 ? std::move(A) : ec::reblock(A, block);
  }
  if (!problem.empty()) return ec::problems::projection({grid + 1, grid, grid}).A;
  const auto chosen = ec::stencils::named(stencil);
  const ec::Grid points{grid, grid, grid};
  return ec::to_block_csr(block == 1 ? ec::problems::poisson(points, chosen)
                                     : ec::problems::random(points, chosen, block, 1));
}

std::string IluCase::name() const {
  return matrix.empty() ? fmt::format("{} {}^3", problem.empty() ? stencil : problem, grid) : matrix;
}

ec::Vector<double> IluCase::right_hand_side(std::int64_t n) {
  ec::Vector<double> r(n);
  for (std::int64_t i = 0; i < n; ++i) r[i] = std::sin(static_cast<double>(i));
  return r;
}

double median_seconds(int repeats, const std::function<void()>& work) {
  work();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    ec::Timer timer;
    work();
    seconds.push_back(timer.seconds());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[static_cast<std::size_t>(repeats / 2)];
}

void print_result(const std::string& contender, const IluCase& test_case, std::int64_t rows, std::int64_t nonzeros,
                  double setup_seconds, double apply_seconds, const ec::Vector<double>& answer,
                  std::int64_t factor_nonzeros) {
  double square = 0, probe = 0;
  for (std::int64_t i = 0; i < answer.size(); ++i) {
    square += answer[i] * answer[i];
    probe += answer[i] * std::cos(0.7 * static_cast<double>(i));
  }
  const nlohmann::json line{
      {"contender", contender},         {"matrix", test_case.name()},         {"block", test_case.block},
      {"threads", test_case.threads},   {"schedule", test_case.schedule},     {"rows", rows},
      {"nonzeros", nonzeros},           {"factor_nonzeros", factor_nonzeros}, {"setup_seconds", setup_seconds},
      {"apply_seconds", apply_seconds}, {"answer_norm", std::sqrt(square)},   {"answer_probe", probe}};
  std::puts(line.dump().c_str());
}

}  // namespace bench
