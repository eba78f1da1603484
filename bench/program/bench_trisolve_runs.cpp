// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_trisolve_runs.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bench/measure/block_matrix.hpp"
#include "echelon/factor/rows/ruiz_scaling.hpp"
#include "echelon/factor/rows/triangle_measures.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/problem/projection.hpp"
#include "echelon/report/plots/spy_plot.hpp"

namespace echelon::cli {
namespace {

constexpr std::int64_t most_iterations = 500;
/// Condition numbers by singular values, O(n³), up to here.
constexpr std::int64_t dense_rows = 400;
constexpr int rows_a_block = 32;
/// Set-up on the host takes a second from here on.
constexpr std::int64_t many_rows = 1'000'000;

bench::BenchCase shape(const char* problem, const char* stencil, Grid grid, int dof = 1) {
  bench::BenchCase one;
  one.kind = "block";  // as contenders know it
  one.problem = problem;
  one.stencil = stencil;
  one.grid = grid;
  one.dof = dof;
  return one;
}

double relative_error(const Vector<double>& x, const Vector<double>& exact) {
  double of_difference = 0, of_exact = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    of_difference += (x[i] - exact[i]) * (x[i] - exact[i]);
    of_exact += exact[i] * exact[i];
  }
  return std::sqrt(of_difference / of_exact);
}

double dense_condition(const BlockCsr<double>& A) {
  Array<double> dense(A.rows() * A.rows(), 0.0);
  for (std::int64_t j = 0; j < A.rows(); ++j) {
    for (std::int64_t i = 0; i < A.rows(); ++i) dense[j * A.rows() + i] = A.at(i, j);
  }
  return condition_2(A.rows(), dense);
}

void add_measures(const char* which, const TriangleNote& note, std::vector<NamedNumber>& list) {
  const auto add = [&](const char* name, double value) { list.push_back({fmt::format("{}_{}", name, which), value}); };
  add("levels", static_cast<double>(note.levels));
  add("sweeps", note.sweeps);
  add("departure", note.departure);
  add("normalised_departure", note.normalised_departure);
  add("condition", note.condition);
  add("growth", note.growth);
  add("left_over", note.left_over);
  if (note.scaling_rounds == 0) return;
  add("scaled_departure", note.scaled_departure);
  add("scaled_condition", note.scaled_condition);
  add("scaling_rounds", note.scaling_rounds);
  add("scaling_deviation", note.scaling_deviation);
}

}  // namespace

std::vector<TrisolveRun> trisolve_runs(const bench::BenchCase& one, bool small) {
  std::vector<TrisolveRun> runs = {{"exact", {}}};
  std::vector<int> numbers = {1, 2, 3, 5, 8, 12, 20, 30, 40};
  if (one.rows() > many_rows) numbers = {5, 40};
  if (small) numbers = {2, 5};
  for (const int k : numbers) {
    TrisolveOptions jacobi{.method = Trisolve::jacobi, .sweeps = k, .guard = false};
    runs.push_back({fmt::format("jacobi {}", k), jacobi});
    TrisolveOptions compact = jacobi;
    compact.form = JacobiForm::compact;
    runs.push_back({fmt::format("compact jacobi {}", k), compact});
    TrisolveOptions damped = jacobi;
    damped.damping = 0.7;
    runs.push_back({fmt::format("damped jacobi {}", k), damped});
    TrisolveOptions blocks = compact;
    blocks.rows_a_block = rows_a_block;
    runs.push_back({fmt::format("block jacobi {}", k), blocks});
    runs.push_back({fmt::format("neumann {}", k), {.method = Trisolve::neumann, .sweeps = k, .guard = false}});
    TrisolveOptions scaled = jacobi;
    scaled.scaling = FactorScaling::both;
    runs.push_back({fmt::format("scaled jacobi {}", k), scaled});
  }
  return runs;
}

std::vector<bench::BenchCase> trisolve_cases(bool small, Device device) {
  if (small) return {shape("projection", "box27", {6, 7, 8}), shape("projection", "box9", {12, 13, 1})};
  const std::int64_t side = device.is_host() ? 64 : 128;
  return {shape("projection", "box9", {19, 19, 1}),
          shape("projection", "box9", {49, 48, 1}),
          shape("projection", "box9", {126, 127, 1}),
          shape("projection", "box27", {7, 7, 7}),
          shape("projection", "box27", {13, 13, 13}),
          shape("projection", "box27", {25, 24, 24}),
          shape("cahnhilliard", "diamond25", {12, 12, 12}, 2),
          shape("poisson", "star7", {side, side, side})};
}

TrisolveCase::TrisolveCase(const bench::BenchCase& one)
    : one_(one),
      A_(bench::block_matrix(one)),
      r_(A_.rows()),
      b_(A_.rows(), 1.0),
      singular_(one.problem == "projection"),
      exact_(A_.rows()) {
  for (std::int64_t i = 0; i < r_.size(); ++i) r_[i] = std::sin(static_cast<double>(i));
  if (singular_) b_ = problems::projection(one.grid).b.clone();
  ilu(A_).apply(r_, exact_);
}

IluOptions TrisolveCase::ilu_options(const TrisolveRun& run) const {
  IluOptions options;
  options.trisolve = run.options;
  return options;
}

BenchRow TrisolveCase::row(const TrisolveRun& run, const FactorReport& report, const Vector<double>& z) const {
  BenchRow row = row_of_case(one_);
  row.operation = run.name;
  row.n = A_.rows();
  row.nonzeros = A_.nonzeros();
  row.measures.push_back({"error", relative_error(z, exact_)});
  row.kernel = report.kernel;
  row.schedule = report.schedule;
  if (const auto& note = report.trisolve) {
    row.analysis_seconds = note->seconds;
    row.measures.push_back({"accepted", note->why.empty() ? 1.0 : 0.0});
    add_measures("lower", note->lower, row.measures);
    add_measures("upper", note->upper, row.measures);
  }
  return row;
}

void TrisolveCase::count_iterations(const Operator<double>& A, const Preconditioner<double>& M, Device device,
                                    BenchRow& row) const {
  const Vector<double> b = b_.to(device), ones(b_.size(), 1.0, device);
  Vector<double> x(b_.size(), 0.0, device);
  KrylovOptions options;
  options.max_it = most_iterations;
  if (singular_) options.null_space = &ones;
  const Report report = gmres(A, b, x, M, options);
  row.reason = word(report.reason);
  row.relative_residual = report.relative_residual;
  row.iterations = report.iterations;
}

void TrisolveCase::add_conditions(const Ilu<double>& exact, BenchRow& row) const {
  if (A_.rows() > dense_rows) return;
  const BlockCsr<double> U = exact.upper();
  RuizScaling scaling;
  equilibrate(U, scaling);
  row.measures.push_back({"condition2_upper", dense_condition(U)});
  row.measures.push_back({"scaled_condition2_upper", dense_condition(scaled(U, scaling))});
}

std::string trisolve_spy(const bench::BenchCase& one) {
  const auto M = ilu(TrisolveCase(one).matrix());
  const auto L = M.lower(), U = M.upper();
  const SpyPattern patterns[] = {{L.row_start(), L.column()}, {U.row_start(), U.column()}};
  return spy_svg(spy_of(patterns, "L + U of ILU(0), " + one.name()));
}

}  // namespace echelon::cli
