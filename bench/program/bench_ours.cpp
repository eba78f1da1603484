// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_ours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bench/measure/row_slab.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/measure/work_model.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/report/solution_hash.hpp"

namespace echelon::cli {
namespace {

/// No repair: a factorization that needs one is not the contenders'.
IluOptions ilu_options(const OurVariant& variant) {
  IluOptions options;
  options.precision = variant.precision;
  options.fill = variant.fill;
  options.shift = ShiftPolicy::none;
  return options;
}

std::unique_ptr<Preconditioner<double>> factored(const StructMatrix<double>& A, const OurVariant& variant) {
  const auto options = ilu_options(variant);
  if (!variant.pc.empty()) return find_preconditioner(variant.pc).make(&A, {.ilu = options});
  return std::make_unique<Ilu<double>>(variant.positive ? ic(A, options) : ilu(A, options));
}

void require_factored(const FactorReport& report) {
  if (!report.ok) throw Error(ErrorCode::structure, report.message);
}

bench::BenchCase with_room(const bench::BenchCase& one) {
  // The matrix, the factors, and one more for what set-up may keep or the bandwidth needs.
  bench::require_room(one, 3.2, "echelon");
  return one;
}

const char* basis_word(BasisPrecision basis) { return basis == BasisPrecision::fp32 ? "fp32" : "fp64"; }

void describe(const FactorReport& report, OurSample& sample) {
  sample.kernel = report.kernel;
  sample.schedule = report.schedule;
  sample.analysis_seconds = report.symbolic_seconds;
}

}  // namespace

std::string OurVariant::method() const { return pc.empty() ? fmt::format("{}{}", positive ? "ic" : "ilu", fill) : pc; }

OurCase::OurCase(const bench::BenchCase& one)
    : one_(with_room(one)), A_(one.make()), b_(one.right_hand_side()), nonzeros_(A_.nonzeros()) {}

std::vector<OurVariant> OurCase::variants() const {
  constexpr auto long_basis = BasisPrecision::fp64, short_basis = BasisPrecision::fp32;
  // The first is the one whose answer contenders must meet.
  const OurVariant plain{Stored::fp64, long_basis}, narrow{Stored::fp32, long_basis};
  if (one_.kind == "trsv") return {plain, narrow, {Stored::bf16, long_basis}, {Stored::fp16, long_basis}};
  if (one_.kind == "factor") return {plain};
  if (one_.kind == "convergence") {
    std::vector<OurVariant> methods = {{Stored::fp64, long_basis, true, 0, ""}, {Stored::fp64, long_basis, true, 1, ""}};
    for (const char* pc : {"parilu", "parilut", "mcilu"}) methods.push_back({Stored::fp64, long_basis, true, 0, pc});
    return methods;
  }
  if (one_.solver == "gmres") return {plain, {Stored::fp64, short_basis}, {Stored::fp32, short_basis}};
  return {plain, narrow};
}

OurSample OurCase::run(const OurVariant& variant) const {
  if (one_.kind == "trsv") return apply(variant);
  return one_.kind == "factor" ? factor(variant) : solve(variant);
}

OurSample OurCase::apply(const OurVariant& variant) const {
  const auto M = ilu(A_, ilu_options(variant));
  require_factored(M.report());
  Vector<double> z(b_.size());
  OurSample sample;
  sample.seconds = bench::median_seconds(one_.repeats(), [&] { M.apply(b_, z); });
  describe(M.report(), sample);
  sample.answer = bench::fingerprint(z);
  sample.hash = solution_hash(z.span());
  return sample;
}

OurSample OurCase::factor(const OurVariant& variant) const {
  OurSample sample;
  sample.seconds = bench::median_seconds(one_.repeats(), [&] { require_factored(ilu(A_, ilu_options(variant)).report()); });
  const auto M = ilu(A_, ilu_options(variant));
  describe(M.report(), sample);
  Vector<double> z(b_.size());
  M.apply(b_, z);
  sample.answer = bench::fingerprint(z);
  sample.hash = solution_hash(z.span());
  return sample;
}

OurSample OurCase::solve(const OurVariant& variant) const {
  KrylovOptions options;
  options.rtol = one_.rtol;
  options.restart = one_.restart;
  options.basis = variant.basis;
  options.max_it = 10000;
  Vector<double> x(b_.size(), 0.0);
  const Timer timer;
  const auto M = factored(A_, variant);
  require_factored(M->report());
  OurSample sample;
  sample.setup_seconds = timer.seconds();
  const Report report = echelon::solve(one_.solver, A_, b_, x, *M, options);
  sample.seconds = timer.seconds();
  sample.solve_seconds = sample.seconds - sample.setup_seconds;
  if (!report.converged) throw Error(ErrorCode::structure, fmt::format("{}: {}", one_.solver, report.message));
  describe(M->report(), sample);
  sample.factor_seconds = M->report().numeric_seconds;
  sample.iterations = report.iterations;
  sample.relative_residual = report.relative_residual;
  sample.answer = bench::fingerprint(x);
  sample.hash = solution_hash(x.span());
  return sample;
}

BenchRow row_of_case(const bench::BenchCase& one) {
  BenchRow row;
  row.name = one.name();
  row.problem = one.problem;
  row.stencil = one.stencil;
  row.grid = {one.grid.nx, one.grid.ny, one.grid.nz};
  row.dof = one.dof;
  row.n = one.rows();
  return row;
}

BenchRow OurCase::row(const OurVariant& variant) const {
  const bench::WorkShape shape{nonzeros_, one_.grid.points(), one_.dof};
  BenchRow row = row_of_case(one_);
  row.operation = one_.kind == "trsv"     ? "ilu0 apply"
                  : one_.kind == "factor" ? "ilu0 setup"
                                          : one_.solver + " + " + variant.method();
  row.nonzeros = nonzeros_;
  row.precision = echelon::word(variant.precision);
  if (one_.solver == "gmres") row.basis = basis_word(variant.basis);
  if (one_.kind == "trsv") {
    row.bytes = bench::sweep_bytes(shape, bytes_of(variant.precision));
    row.flops = bench::sweep_flops(shape);
  } else if (one_.kind == "factor") {
    row.bytes = bench::factor_bytes(shape, A_.stencil());
    row.flops = bench::factor_flops(shape, A_.stencil());
  }
  return row;
}

bench::Fingerprint OurCase::block_jacobi_answer(int ranks) const {
  Vector<double> z(b_.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const auto range = bench::owned_points(one_.grid, rank, ranks);
    if (range.points() == 0) continue;
    const auto M = ilu(bench::diagonal_block(A_, range), ilu_options({}));
    require_factored(M.report());
    const std::int64_t first = range.begin * one_.dof, count = range.points() * one_.dof;
    Vector<double> r(count), part(count);
    std::copy_n(b_.data() + first, count, r.data());
    M.apply(r, part);
    std::copy_n(part.data(), count, z.data() + first);
  }
  return bench::fingerprint(z);
}

}  // namespace echelon::cli
