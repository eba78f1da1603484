// SPDX-License-Identifier: BSD-3-Clause
// Speed of sweeps in diagonal block rows (DBSR) beside block multicolouring in CSR, in one run: both sweeps of ILU(0), SYMGS
// from zero, the factorization in smoothing steps, and iterations of CG in natural, block multicolour and multicolour order.
// Every time stands behind an equality of answers. Arguments: side (104), stencil (box27), threads (1), repeats (9), and
// "iterations" or "factor" to have only those. One JSON line.
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/measure/bandwidth.hpp"
#include "bench/measure/sampling.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/dbsr/dbsr_factors.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/dbsr/dbsr.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/dbsr/dbsr_gauss_seidel.hpp"
#include "echelon/sweep/rows/triangular_sweep.hpp"

namespace echelon::bench {
namespace {

using Json = nlohmann::json;

/// Our CSR code on the permuted matrix: rows of a colour are shared by whole blocks, a barrier a colour.
template <class T>
class CsrSweeps {
 public:
  CsrSweeps(const BlockCsr<double>& A, const BlockColouring& order, const std::vector<double>& inverse)
      : order_(order), n_(A.rows()), inverse_(n_) {
    for (std::int64_t i = 0; i < n_; ++i) inverse_[i] = static_cast<T>(inverse[static_cast<std::size_t>(i)]);
    const auto view = A.view();
    std::vector<std::int64_t> start[2] = {{0}, {0}};
    std::vector<std::int32_t> distance[2];
    std::vector<T> value[2];
    for (std::int64_t s = 0; s < n_; ++s) {
      for (const bool upper : {false, true}) {
        const std::int64_t i = upper ? n_ - 1 - s : s;
        for (auto p = view.row_start[i]; p < view.row_start[i + 1]; ++p) {
          const std::int64_t j = view.column[p];
          if (upper ? j <= i : j >= i) continue;
          distance[upper].push_back(static_cast<std::int32_t>(upper ? j - i : i - j));
          value[upper].push_back(static_cast<T>(view.values[p]));
        }
        start[upper].push_back(static_cast<std::int64_t>(value[upper].size()));
      }
    }
    for (const int t : {0, 1}) {
      start_[t] = Array<std::int64_t>(std::span<const std::int64_t>(start[t]));
      distance_[t] = Array<std::int32_t>(std::span<const std::int32_t>(distance[t]));
      value_[t] = Array<T>(std::span<const T>(value[t]));
    }
    // bsize 1: positions are rows, apart from a row of guard before each colour.
    for (const auto& colour : order.colours()) first_.push_back(colour.begin - static_cast<std::int64_t>(first_.size()) - 1);
  }
  void run(const Vector<T>& r, Vector<T>& x) const {
    const auto kernels = sweep_kernels<T>(1, false);
    const SweepView<T> L{n_, 1, start_[0].data(), distance_[0].data(), value_[0].data(), nullptr, r.data(), x.data()};
    const SweepView<T> U{n_,       1,       start_[1].data(), distance_[1].data(), value_[1].data(), inverse_.data(),
                         x.data(), x.data()};
    const auto colours = order_.colours();
#pragma omp parallel num_threads(threads())
    {
      const int part = omp_get_thread_num(), parts = omp_get_num_threads();
      T scratch = 0;
      for (std::size_t c = 0; c < colours.size(); ++c) {
        const auto [begin, end] = order_.rows(colours[c], part, parts);
        const std::int64_t moved = static_cast<std::int64_t>(c) + 1;
        kernels.lower(L, begin - moved, end - moved, &scratch);
#pragma omp barrier
      }
      for (std::size_t c = colours.size(); c-- > 0;) {
        const auto [begin, end] = order_.rows(colours[c], part, parts);
        const std::int64_t moved = static_cast<std::int64_t>(c) + 1;
        kernels.upper(U, n_ - (end - moved), n_ - (begin - moved), &scratch);
#pragma omp barrier
      }
    }
  }

 private:
  const BlockColouring& order_;
  std::int64_t n_;
  Array<T> inverse_;
  Array<std::int64_t> start_[2];
  Array<std::int32_t> distance_[2];
  Array<T> value_[2];
  std::vector<std::int64_t> first_;
};

struct Case {
  StructMatrix<double> A;
  int repeats;
  double triad;
};

std::shared_ptr<const BlockColouring> fixed_blocks(const Case& c, int bsize) {
  return std::make_shared<BlockColouring>(
      grid_block_colouring(c.A.grid(), c.A.stencil(), {BlockChoice::fixed, {}, bsize, 1}));
}

template <class T>
StructMatrix<T> in_precision(const StructMatrix<double>& A) {
  StructMatrix<T> B(A.grid(), A.stencil());
  for (std::size_t n = 0; n < A.values().size(); ++n) B.values()[n] = static_cast<T>(A.values()[n]);
  return B;
}

/// Both sweeps of ILU(0)'s shape, with A's own triangles: L unit, U with D⁻¹.
template <class T>
Json dbsr_line(const Case& c, int bsize, double csr_seconds, double csr_sum) {
  const auto order = fixed_blocks(c, bsize);
  const StructMatrix<T> A = in_precision<T>(c.A);
  const Timer conversion;
  const DbsrGaussSeidel<T> gs(A, order);
  const double convert_seconds = conversion.seconds();
  const DbsrMatrix<T>& M = gs.matrix();
  Vector<T> r(M.rows(), T(1)), b(M.positions()), x(M.positions(), T(0)), half(M.positions(), T(0)),
      inverse(M.positions(), T(0));
  M.permute(r, b);
  for (std::int64_t p = 0; p < M.positions(); ++p) {
    if (b[p] != 0) inverse[p] = T(1) / M.diagonal()[static_cast<std::size_t>(p)];
  }
  const auto kernels = dbsr_sweep_kernels<T>(bsize, sizeof(T) == 8 ? Stored::fp64 : Stored::fp32);
  const DbsrView<T> view = M.view();
  const DbsrSweepView<T> first{view.lower, view.upper, inverse.data(), b.data(), x.data(), nullptr};
  const DbsrSweepView<T> second{view.lower, view.upper, inverse.data(), x.data(), x.data(), nullptr};
  const double sweeps = median_seconds(c.repeats, [&] {
    run_colours(*order, ColourOrder::ascending, threads(), kernels.lower, first);
    run_colours(*order, ColourOrder::descending, threads(), kernels.upper, second);
  });
  double sum = 0;
  for (const T value : x) sum += static_cast<double>(value);
  const double symgs = median_seconds(c.repeats, [&] { gs.from_zero(b, half, x); });
  const double product = median_seconds(c.repeats, [&] { gs.multiply(b, x); });
  const double vectors = static_cast<double>(M.positions() * static_cast<std::int64_t>(sizeof(T)));
  const double triangles = static_cast<double>(M.bytes()) - vectors;
  // r and x of L, x twice and D⁻¹ of U; SYMGS has D⁻¹ twice and `half` written and read.
  const double sweep_bytes = triangles + 5 * vectors, symgs_bytes = triangles + 7 * vectors,
               product_bytes = triangles + 3 * vectors;
  return {{"bsize", bsize},
          {"precision", sizeof(T) == 8 ? "fp64" : "fp32"},
          {"numbering", order->numbering()},
          {"values_a_nonzero", M.stored_a_nonzero()},
          {"same_answer", std::abs(sum - csr_sum) <= (sizeof(T) == 8 ? 1e-9 : 1e-3) * std::abs(csr_sum)},
          {"convert_ms", 1e3 * convert_seconds},
          {"sweeps_ms", 1e3 * sweeps},
          {"over_csr", csr_seconds / sweeps},
          {"sweeps_of_triad", sweep_bytes / sweeps / c.triad},
          {"symgs_ms", 1e3 * symgs},
          {"symgs_of_triad", symgs_bytes / symgs / c.triad},
          {"product_ms", 1e3 * product},
          {"product_of_triad", product_bytes / product / c.triad}};
}

template <class T>
void lines(const Case& c, Json& all) {
  const auto order = fixed_blocks(c, 1);
  const auto natural = order->order();
  const auto A = permuted(to_block_csr(c.A), natural.span());
  std::vector<double> inverse;
  for (std::int64_t i = 0; i < A.rows(); ++i) inverse.push_back(1 / A.at(i, i));
  double seconds = 0, sum = 0;
  {
    const CsrSweeps<T> csr(A, *order, inverse);
    Vector<T> r(A.rows(), T(1)), x(A.rows(), T(0));
    seconds = median_seconds(c.repeats, [&] { csr.run(r, x); });
    for (const T value : x) sum += static_cast<double>(value);
    all.push_back({{"format", "csr, block multicolour"},
                   {"precision", sizeof(T) == 8 ? "fp64" : "fp32"},
                   {"sweeps_ms", 1e3 * seconds}});
  }
  for (const int bsize : {1, 4, 8, 16, 32}) all.push_back(dbsr_line<T>(c, bsize, seconds, sum));
}

/// A smoothing step: residual, L, U, update.
Json factorization(const Case& c, int bsize) {
  const auto order = fixed_blocks(c, bsize);
  const DbsrMatrix<double> M(c.A, order);
  const Timer symbolic;
  DbsrFactors<double> factors(order, M.share_pattern());
  const double plan = symbolic.seconds();
  PivotLog log;
  const double numeric = median_seconds(c.repeats, [&] { factors.attempt(M, {1e-13, 0, false, true, 1, &log}); });
  Vector<double> natural(M.rows(), 1.0), b(M.positions()), x(M.positions(), 0.0), y(M.positions(), 0.0);
  M.permute(natural, b);
  const auto kernels = dbsr_sweep_kernels<double>(bsize, Stored::fp64);
  const DbsrSweepView<double> view{factors.lower(), factors.upper(), factors.inverse(), y.data(), y.data(), nullptr};
  const std::int64_t n = M.positions();
  const double step = median_seconds(c.repeats, [&] {
    M.multiply(x, y);
#pragma omp parallel for schedule(static) num_threads(threads())
    for (std::int64_t p = 0; p < n; ++p) y[p] = b[p] - y[p];
    run_colours(*order, ColourOrder::ascending, threads(), kernels.lower, view);
    run_colours(*order, ColourOrder::descending, threads(), kernels.upper, view);
#pragma omp parallel for schedule(static) num_threads(threads())
    for (std::int64_t p = 0; p < n; ++p) x[p] += y[p];
  });
  Vector<double> rest(n);
  M.multiply(x, rest);
  double norm = 0;
  for (std::int64_t p = 0; p < n; ++p) norm += (b[p] - rest[p]) * (b[p] - rest[p]);
  return {{"bsize", bsize},
          {"plan_ms", 1e3 * plan},
          {"products_a_block_row", static_cast<double>(factors.operations()) / static_cast<double>(n)},
          {"numeric_ms", 1e3 * numeric},
          {"step_ms", 1e3 * step},
          {"steps", numeric / step},
          {"residual_fell", std::sqrt(norm / static_cast<double>(M.rows())) < 1}};
}

Json iterations(const Case& c) {
  const auto count = [&](const Preconditioner<double>& M) {
    Vector<double> b(c.A.rows(), 1.0), x(c.A.rows(), 0.0);
    const Report report = cg(c.A, b, x, M, {.rtol = 1e-8});
    return report.converged ? report.iterations : -1;
  };
  const auto blocks = [&](BlockChoice choice) { return dbsr(c.A, {{choice, {1, 1, 1}, 8, threads()}, {}}); };
  return {{"natural", count(ic(c.A))},
          {"block_multicolour_fixed", count(blocks(BlockChoice::fixed))},
          {"block_multicolour_auto", count(blocks(BlockChoice::automatic))},
          {"multicolour", count(blocks(BlockChoice::given))}};
}

}  // namespace
}  // namespace echelon::bench

int main(int argc, char** argv) {
  using namespace echelon;
  const std::int64_t side = argc > 1 ? std::atoll(argv[1]) : 104;
  const std::string stencil = argc > 2 ? argv[2] : "box27";
  set_threads(argc > 3 ? std::atoi(argv[3]) : 1);
  const int repeats = argc > 4 ? std::atoi(argv[4]) : 9;
  bench::Case c{problems::poisson({side, side, side}, stencils::named(stencil)), repeats, 0};
  // With 1 on the diagonal, so that the unit triangle of A itself is a stable L.
  const double diagonal = c.A.block(0, c.A.stencil().center())[0];
  for (auto& value : c.A.values()) value /= diagonal;
  bench::Json result = {{"side", side}, {"stencil", stencil}, {"threads", threads()}};
  const std::string only = argc > 5 ? argv[5] : "";
  if (only == "iterations") {
    result["iterations"] = bench::iterations(c);
  } else {
    if (only != "factor") {
      c.triad = bench::BandwidthProbe(c.A.nonzeros() * 8).measure().triad;
      result["triad_gb_s"] = c.triad / 1e9;
      bench::lines<double>(c, result["sweeps"]);
      bench::lines<float>(c, result["sweeps"]);
    }
    for (const int bsize : {8, 16}) result["factorization"].push_back(bench::factorization(c, bsize));
  }
  std::puts(result.dump(1).c_str());
}
