// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/dbsr/dbsr_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/measure/bandwidth.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/program/dbsr/four_levels.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"
#include "echelon/sweep/dbsr/dbsr_gauss_seidel.hpp"
#include "echelon/sweep/grid/gauss_seidel.hpp"

namespace echelon::cli {
namespace {

using bench::Elimination;
using bench::Format;
using bench::FourLevels;
using bench::Strategy;

constexpr int levels = 4, sweeps_a_round = 3;
constexpr std::int64_t most_iterations = 2000;

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-8 : 1e-5;
/// How far answers of one order may lie apart, over the largest of their numbers.
template <class T>
constexpr double apart = sizeof(T) == 8 ? 1e-11 : 1e-4;

BenchRow row_of(const DbsrCase& one, const StructMatrix<double>& A, std::string operation) {
  BenchRow row;
  row.name = one.name();
  row.problem = "poisson";
  row.stencil = one.stencil;
  row.grid = {A.grid().nx, A.grid().ny, A.grid().nz};
  row.n = A.rows();
  row.nonzeros = A.nonzeros();
  row.precision = one.narrow ? "fp32" : "fp64";
  row.operation = std::move(operation);
  row.threads = threads();
  return row;
}

template <class T>
StructMatrix<T> in_precision(const StructMatrix<double>& A) {
  StructMatrix<T> B(A.grid(), A.stencil());
  for (std::size_t n = 0; n < A.values().size(); ++n) B.values()[n] = static_cast<T>(A.values()[n]);
  return B;
}

/// The same matrix on grids of half the sides, as HPCG has it.
template <class T>
std::vector<StructMatrix<T>> matrices_of(const DbsrCase& one, int count) {
  std::vector<StructMatrix<T>> all;
  for (std::int64_t side = one.side; count-- > 0; side /= 2) {
    all.push_back(in_precision<T>(problems::poisson({side, side, side}, stencils::named(one.stencil))));
  }
  return all;
}

/// Numbers in (−1, 1) that no order favours: all frequencies are in them.
std::vector<double> right_hand_side(std::int64_t n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  std::uint64_t state = bench::BenchCase::seed;
  for (auto& value : b) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(state >> 11) / static_cast<double>(std::uint64_t{1} << 52) - 1;
  }
  return b;
}

double relative_residual(const StructMatrix<double>& A, const std::vector<double>& b, const std::vector<double>& x) {
  Vector<double> right(std::span<const double>{b}), answer(std::span<const double>{x}), rest(A.rows());
  A.residual(right, answer, rest);
  double of_rest = 0, of_b = 0;
  for (std::int64_t i = 0; i < rest.size(); ++i) of_rest += rest[i] * rest[i], of_b += right[i] * right[i];
  return std::sqrt(of_rest / of_b);
}

/// What is measured of one strategy has to agree with the first one of its order.
class SameAnswers {
 public:
  template <class T>
  void require(const Strategy& strategy, std::vector<double> answer) {
    const auto order = bench::same_answer(strategy);
    if (order.empty()) return;
    const auto [found, is_new] = answers_.try_emplace(order, std::move(answer));
    if (is_new) return;
    double far = 0, largest = 0;
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      far = std::max(far, std::abs(found->second[i] - answer[i]));
      largest = std::max(largest, std::abs(found->second[i]));
    }
    if (!(far <= apart<T> * largest)) {
      throw Error(ErrorCode::structure, fmt::format("{}: its sweeps are {:.1e} from those of another format in {}",
                                                    strategy.name, far / largest, order));
    }
  }

 private:
  std::map<std::string, std::vector<double>> answers_;
};

bool wanted(const DbsrPlan& plan, const std::string& name) {
  return plan.methods.empty() || std::ranges::count(plan.methods, name) > 0;
}

bench::Bandwidth bandwidth_of(const StructMatrix<double>& A, std::size_t value_bytes) {
  return bench::BandwidthProbe(A.nonzeros() * static_cast<std::int64_t>(value_bytes)).measure();
}

template <class T>
BenchRow solved(const DbsrCase& one, const DbsrPlan& plan, const std::vector<StructMatrix<T>>& matrices,
                const StructMatrix<double>& A, const Strategy& strategy) {
  FourLevels<T> method(matrices, strategy);
  const auto b = right_hand_side(A.rows());
  Vector<T> own_b(method.form().length(), T(0)), own_x(method.form().length(), T(0));
  method.form().permute(b, own_b);
  const double factor = bench::median_seconds(plan.rounds, [&] { method.factor(); });
  std::vector<double> samples;
  bench::CgOutcome outcome;
  for (int round = 0; round < plan.rounds; ++round) {
    outcome = method.solve(own_b, own_x, tolerance<T>, most_iterations);
    samples.push_back(outcome.seconds);
  }
  std::vector<double> x(b.size());
  method.form().permute_back(own_x, x);
  BenchRow row = row_of(one, A, strategy.name);
  row.relative_residual = relative_residual(A, b, x);
  // The updated residual of CG parts from the true one by rounding.
  if (!outcome.converged || !(row.relative_residual <= 2 * tolerance<T>)) {
    throw Error(ErrorCode::structure, fmt::format("{}: residual {:.1e} after {} iterations", strategy.name,
                                                  row.relative_residual, outcome.iterations));
  }
  row.seconds = row.solve_seconds = bench::median(samples);
  row.spread = bench::spread(samples);
  row.setup_seconds = factor;
  row.iterations = outcome.iterations;
  row.kernel = method.form().description();
  return row;
}

template <class T>
void solves(const DbsrCase& one, const DbsrPlan& plan, CaseResult& result) {
  const auto A = problems::poisson({one.side, one.side, one.side}, stencils::named(one.stencil));
  const auto matrices = matrices_of<T>(one, one.what == "cg" ? 1 : levels);
  std::vector<Strategy> strategies = bench::solve_strategies();
  if (one.what == "levels") {
    strategies = {{"serial", Elimination::natural, Format::csr, 1, true},
                  {"bsize 8", Elimination::fixed_blocks, Format::dbsr, 8},
                  {"bsize by level", Elimination::fixed_blocks, Format::dbsr, 0}};
  }
  double serial = 0;
  std::int64_t serial_iterations = 0;
  for (const int team : plan.threads) {
    set_threads(team);
    const auto bandwidth = bandwidth_of(A, sizeof(T));
    for (const auto& strategy : strategies) {
      const bool first = strategy.one_thread;
      if (first ? serial > 0 : one.what != "levels" && !wanted(plan, strategy.name)) continue;
      plan.progress(fmt::format("{}, {} thread{}", strategy.name, first ? 1 : team, (first ? 1 : team) == 1 ? "" : "s"));
      if (first) set_threads(1);
      BenchRow row = solved<T>(one, plan, matrices, A, strategy);
      row.threads = threads();
      set_threads(team);
      if (first) serial = row.seconds, serial_iterations = row.iterations;
      row.triad = bandwidth.triad, row.copy = bandwidth.copy;
      row.iteration_ratio = static_cast<double>(row.iterations) / static_cast<double>(serial_iterations);
      row.measures = {{"speedup_over_serial", serial / row.seconds}, {"factor_seconds", row.setup_seconds}};
      result.rows.push_back(std::move(row));
    }
  }
}

std::vector<Strategy> sweep_strategies(bool narrow_grid) {
  using enum Elimination;
  std::vector<Strategy> all = {{"serial", natural, Format::csr, 1, true},
                               {"bj", slabs, Format::csr, 1},
                               {"mc", points, Format::csr, 1},
                               {"bmc-fix", fixed_blocks, Format::csr, 1},
                               {"bmc-auto", auto_blocks, Format::csr, 1},
                               {"lines", natural, Format::lines},
                               {"sell bsize 8", fixed_blocks, Format::sell_plain, 8},
                               {"sell+gather bsize 8", fixed_blocks, Format::sell, 8},
                               {"dbsr bsize 8", fixed_blocks, Format::dbsr_plain, 8},
                               {"dbsr+gather bsize 8", fixed_blocks, Format::dbsr_gather, 8},
                               {"simd-auto bsize 8", auto_blocks, Format::dbsr, 8}};
  for (const int bsize : {1, 2, 4, 8, 16, 32, 64}) {
    if (narrow_grid && bsize > 16) continue;
    all.push_back({fmt::format("simd bsize {}", bsize), fixed_blocks, Format::dbsr, bsize});
  }
  return all;
}

template <class T>
void sweeps(const DbsrCase& one, const DbsrPlan& plan, CaseResult& result) {
  const auto A = problems::poisson({one.side, one.side, one.side}, stencils::named(one.stencil));
  const auto matrices = matrices_of<T>(one, 1);
  const auto b = right_hand_side(A.rows());
  const int repeats = sweeps_a_round * plan.rounds;
  for (const int team : plan.threads) {
    set_threads(team);
    SameAnswers answers;
    const auto bandwidth = bandwidth_of(A, sizeof(T));
    double unit = 0;  // a smoothing step of DBSR with SIMD
    const std::size_t before = result.rows.size();
    for (const auto& strategy : sweep_strategies(one.side < 32)) {
      if (strategy.one_thread && team > 1) continue;
      if (!wanted(plan, strategy.name)) continue;
      plan.progress(fmt::format("{}, {} thread{}", strategy.name, team, team == 1 ? "" : "s"));
      const Timer set_up;
      FourLevels<T> method(matrices, strategy);
      const double conversion = set_up.seconds();
      auto& form = method.form();
      Vector<T> own_b(form.length(), T(0)), x(form.length(), T(0));
      form.permute(b, own_b);
      form.sweep(own_b, x);
      std::vector<double> answer(b.size());
      form.permute_back(x, answer);
      // One step of a convergent splitting.
      if (const double left = relative_residual(A, b, answer); !(left < 1)) {
        throw Error(ErrorCode::structure, fmt::format("{}: M⁻¹ b leaves {:.2f} of b", strategy.name, left));
      }
      answers.require<T>(strategy, std::move(answer));
      BenchRow row = row_of(one, A, strategy.name);
      std::vector<double> samples;
      for (int n = 0; n <= repeats; ++n) {
        const Timer timer;
        form.sweep(own_b, x);
        if (n > 0) samples.push_back(timer.seconds());
      }
      row.seconds = bench::median(samples), row.spread = bench::spread(samples);
      const double factor = bench::median_seconds(plan.rounds, [&] { form.factor(); });
      const double product = bench::median_seconds(repeats, [&] { form.multiply(own_b, x); });
      const double step = bench::median_seconds(repeats, [&] { method.smoothing_step(own_b, x); });
      if (strategy.format == Format::dbsr && strategy.order == Elimination::fixed_blocks && strategy.bsize == 8) unit = step;
      row.setup_seconds = conversion;
      row.bytes = form.sweep_bytes();
      row.triad = bandwidth.triad, row.copy = bandwidth.copy;
      row.kernel = form.description();
      const auto storage = form.storage();
      row.measures = {{"step_seconds", step},
                      {"factor_seconds", factor},
                      {"product_seconds", product},
                      {"conversion_seconds", conversion},
                      {"bytes_nonzeros", storage.nonzeros},
                      {"bytes_padding", storage.padding},
                      {"bytes_columns", storage.columns},
                      {"bytes_rows", storage.rows},
                      {"bytes_offsets", storage.offsets}};
      result.rows.push_back(std::move(row));
    }
    for (std::size_t r = before; unit > 0 && r < result.rows.size(); ++r) {
      auto& row = result.rows[r];
      row.measures.push_back({"factor_steps", measure_of(row, "factor_seconds") / unit});
    }
  }
}

/// x after one step from zero; the true answers of both are compared by their residuals, which the orders make differ
/// little.
template <class T>
void symgs(const DbsrCase& one, const DbsrPlan& plan, CaseResult& result) {
  const auto A = problems::poisson({one.side, one.side, one.side}, stencils::named(one.stencil));
  const auto own = in_precision<T>(A);
  const auto b = right_hand_side(A.rows());
  const int repeats = sweeps_a_round * plan.rounds;
  const double n = static_cast<double>(A.rows()), value = sizeof(T);
  for (const int team : plan.threads) {
    set_threads(team);
    const auto bandwidth = bandwidth_of(A, sizeof(T));
    const auto add = [&](const char* name, double bytes, const std::vector<double>& samples, const std::vector<double>& x,
                         double conversion) {
      BenchRow row = row_of(one, A, name);
      row.relative_residual = relative_residual(A, b, x);
      if (!(row.relative_residual < 1)) throw Error(ErrorCode::structure, fmt::format("{}: no step of Gauss-Seidel", name));
      row.seconds = bench::median(samples), row.spread = bench::spread(samples);
      row.bytes = bytes;
      row.triad = bandwidth.triad, row.copy = bandwidth.copy;
      row.setup_seconds = conversion;
      row.measures = {{"residual_after_a_step", row.relative_residual}, {"conversion_seconds", conversion}};
      result.rows.push_back(std::move(row));
    };
    const auto timed = [&](const auto& work) {
      std::vector<double> samples;
      for (int r = 0; r <= repeats; ++r) {
        const Timer timer;
        work();
        if (r > 0) samples.push_back(timer.seconds());
      }
      return samples;
    };
    plan.progress(fmt::format("exact, {} threads", team));
    Vector<T> r(A.rows());
    for (std::int64_t i = 0; i < r.size(); ++i) r[i] = static_cast<T>(b[static_cast<std::size_t>(i)]);
    std::vector<double> answer(b.size());
    {
      Vector<T> x(A.rows(), T(0)), half(A.rows(), T(0));
      const Timer timer;
      const GaussSeidel<T> exact(own);
      const double conversion = timer.seconds();
      const auto samples = timed([&] { exact.from_zero(r, half, x); });
      for (std::size_t i = 0; i < answer.size(); ++i) answer[i] = static_cast<double>(x[static_cast<std::int64_t>(i)]);
      // The count: 8·(nonzeros + N) + 32·N.
      add("exact", value * (static_cast<double>(A.nonzeros()) + 5 * n), samples, answer, conversion);
    }
    plan.progress(fmt::format("dbsr, {} threads", team));
    const Timer timer;
    const auto order =
        std::make_shared<BlockColouring>(grid_block_colouring(A.grid(), A.stencil(), {BlockChoice::fixed, {}, 8, team}));
    const DbsrGaussSeidel<T> gs(own, order);
    const double conversion = timer.seconds();
    const auto& M = gs.matrix();
    Vector<T> right(M.positions(), T(0)), x(M.positions(), T(0)), half(M.positions(), T(0)), back(M.rows());
    M.permute(r, right);
    const auto samples = timed([&] { gs.from_zero(right, half, x); });
    M.permute_back(x, back);
    for (std::size_t i = 0; i < answer.size(); ++i) answer[i] = static_cast<double>(back[static_cast<std::int64_t>(i)]);
    // Triangles and indices; r, half twice, x twice, D⁻¹ twice.
    add("dbsr", static_cast<double>(M.bytes()) + 6 * value * static_cast<double>(M.positions()), samples, answer,
        conversion);
  }
}

}  // namespace

double measure_of(const BenchRow& row, const std::string& name) {
  for (const auto& one : row.measures) {
    if (one.name == name) return one.value;
  }
  return std::nan("");
}

std::string DbsrCase::name() const {
  return fmt::format("{} {} {}x{}x{} {}", what, stencil, side, side, side, narrow ? "fp32" : "fp64");
}

std::vector<DbsrCase> dbsr_cases(bool small, bool large) {
  std::vector<std::int64_t> sides = {104, 128};
  if (small) sides = {16};
  if (large) sides.push_back(192);
  std::vector<DbsrCase> all;
  for (const std::int64_t side : sides) {
    for (const char* stencil : {"box27", "star7"}) {
      for (const bool narrow : {false, true}) {
        for (const char* what : {"cg", "mg", "sweeps", "symgs", "levels"}) {
          if (std::string(what) == "levels" && narrow) continue;
          all.push_back({what, stencil, side, narrow});
        }
      }
    }
  }
  if (large) {
    for (const bool narrow : {false, true}) all.push_back({"mg", "star7", 256, narrow});
  }
  return all;
}

std::vector<std::string> dbsr_method_names() {
  std::vector<std::string> names;
  for (const auto& one : bench::solve_strategies()) names.push_back(one.name);
  for (const auto& one : sweep_strategies(false)) {
    if (std::ranges::count(names, one.name) == 0) names.push_back(one.name);
  }
  return names;
}

CaseResult measure_dbsr(const DbsrCase& one, const DbsrPlan& plan) {
  CaseResult result;
  const auto measure = [&]<class T>(T) {
    if (one.what == "sweeps") return sweeps<T>(one, plan, result);
    if (one.what == "symgs") return symgs<T>(one, plan, result);
    solves<T>(one, plan, result);
  };
  one.narrow ? measure(0.0F) : measure(0.0);
  return result;
}

}  // namespace echelon::cli
