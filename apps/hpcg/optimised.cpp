// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/optimised.hpp"

#include <cmath>
#include <utility>

#include "apps/hpcg/clock.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::hpcg {
namespace {

/// place[coarse own place] = own place on the fine level.
Array<std::int32_t> injected_places(const Grid& fine, std::span<const std::int32_t> fine_places,
                                    std::span<const std::int32_t> coarse_places, std::int64_t coarse_length) {
  if (fine_places.empty() && coarse_places.empty()) return {};
  Array<std::int32_t> places(coarse_length, std::int32_t{-1});
  std::int64_t coarse = 0;
  for (std::int64_t k = 0; k < fine.nz; k += 2) {
    for (std::int64_t j = 0; j < fine.ny; j += 2) {
      for (std::int64_t i = 0; i < fine.nx; i += 2, ++coarse) {
        const auto row = static_cast<std::size_t>(fine.index(i, j, k));
        const auto own = fine_places.empty() ? static_cast<std::int32_t>(row) : fine_places[row];
        places[coarse_places.empty() ? coarse : coarse_places[static_cast<std::size_t>(coarse)]] = own;
      }
    }
  }
  return places;
}

template <class Work>
void timed(double& part, const Work& work) {
  const Clock clock;
  work();
  part += clock.seconds();
}

}  // namespace

Optimised::Level::Level(const Geometry& g, StructMatrix<double> matrix, const OptimisedOptions& options,
                        const Communicator& communicator)
    : geometry(g), A(std::move(matrix)), smoother(options.make(A)), halo(halo_of(g, communicator)), outside(g, halo) {}

Optimised::Optimised(const std::vector<Geometry>& levels, std::vector<StructMatrix<double>> matrices,
                     const OptimisedOptions& options, const Communicator& communicator)
    : communicator_(communicator), separate_(options.separate), work_(0) {
  levels_.reserve(levels.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels_.emplace_back(levels[l], std::move(matrices[l]), options, communicator);
  }
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    const Smoother& coarse = *levels_[l + 1].smoother;
    levels_[l].fine_places =
        injected_places(levels_[l].geometry.local, levels_[l].smoother->places(), coarse.places(), coarse.length());
    levels_[l].smoother->inject_to(levels_[l].fine_places.span());
    levels_[l].coarse_r = V(coarse.length(), 0.0);
    levels_[l].coarse_x = V(coarse.length(), 0.0);
    if (separate_) levels_[l].Ax = V(levels_[l].smoother->length(), 0.0);
  }
  work_ = VectorWork(length());
  for (V* vector : {&r_, &z_, &p_, &Ap_}) *vector = V(length(), 0.0);
}

std::int64_t Optimised::bytes() const {
  std::int64_t sum = r_.bytes() + z_.bytes() + p_.bytes() + Ap_.bytes();
  for (const auto& level : levels_) {
    sum += level.smoother->bytes() + level.outside.bytes() + level.fine_places.bytes();
    sum += level.coarse_r.bytes() + level.coarse_x.bytes() + level.Ax.bytes();
  }
  return sum;
}

Vector<double> Optimised::in_own_order(const V& natural) const {
  const auto places = levels_.front().smoother->places();
  if (places.empty()) return natural.clone();
  V own(length(), 0.0);
  for (std::int64_t row = 0; row < natural.size(); ++row) own[places[static_cast<std::size_t>(row)]] = natural[row];
  return own;
}

double Optimised::local_multiply(Level& level, const V& x, V& y) {
  level.halo.start(x.data());
  const double dot = level.smoother->multiply(x, y);
  return dot + level.outside.add(level.halo.finish(), x, y);
}

double Optimised::multiply(const V& x, V& y) {
  double dot = local_multiply(levels_.front(), x, y);
  communicator_.sum({&dot, 1});
  return dot;
}

double Optimised::dot(const V& u, const V& v) {
  double sum = work_.dot(u, v);
  communicator_.sum({&sum, 1});
  return sum;
}

template <class Visit>
void Optimised::for_injected(const Level& level, const Visit& visit) {
  if (!level.fine_places.empty()) {
    const std::int64_t count = level.fine_places.size();
#pragma omp parallel for schedule(static) num_threads(threads_for(count))
    for (std::int64_t c = 0; c < count; ++c) {
      if (level.fine_places[c] >= 0) visit(c, level.fine_places[c]);
    }
    return;
  }
  const Grid& fine = level.geometry.local;
  const Grid coarse{fine.nx / 2, fine.ny / 2, fine.nz / 2};
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads_for(coarse.points()))
  for (std::int64_t k = 0; k < coarse.nz; ++k) {
    for (std::int64_t j = 0; j < coarse.ny; ++j) {
      const std::int64_t c = coarse.index(0, j, k), f = fine.index(0, 2 * j, 2 * k);
      for (std::int64_t i = 0; i < coarse.nx; ++i) visit(c + i, f + 2 * i);
    }
  }
}

void Optimised::restrict_residual(Level& level, const V& r, const V& x) {
  if (!separate_) {
    level.halo.start(x.data());
    level.smoother->coarse_residual(r, x, level.coarse_r);
    level.outside.subtract_injected(level.halo.finish(), level.coarse_r);
    return;
  }
  local_multiply(level, x, level.Ax);
  for_injected(level, [&](std::int64_t coarse, std::int64_t fine) { level.coarse_r[coarse] = r[fine] - level.Ax[fine]; });
}

void Optimised::prolong(Level& level, V& x) {
  for_injected(level, [&](std::int64_t coarse, std::int64_t fine) { x[fine] += level.coarse_x[coarse]; });
}

void Optimised::cycle(std::size_t l, V& r, V& x) {
  Level& level = levels_[l];
  level.smoother->from_zero(r, x);
  if (l + 1 == levels_.size()) return;
  restrict_residual(level, r, x);
  cycle(l + 1, level.coarse_r, level.coarse_x);
  prolong(level, x);
  level.halo.start(x.data());
  level.outside.subtract(level.halo.finish(), r);
  level.smoother->from_guess(r, x);
  level.outside.restore(r);
}

CgResult Optimised::solve(const V& b, V& x, const CgRequest& request, CgSeconds& seconds) {
  const Clock total;
  const auto sum_up = [&](double sum) {
    timed(seconds.allreduce, [&] { communicator_.sum({&sum, 1}); });
    return sum;
  };
  CgResult result;
  x.fill(0.0);
  timed(seconds.spmv, [&] { local_multiply(levels_.front(), x, Ap_); });
  double square = 0;
  timed(seconds.waxpby, [&] { square = sum_up(work_.subtract(b, Ap_, r_)); });
  result.first_residual = result.residual = std::sqrt(square);
  double rz = 0, alpha = 0;
  for (int k = 1; k <= request.iterations && result.scaled() > request.tolerance; ++k) {
    ask_whether_to_go_on(request.ask);
    timed(seconds.mg, [&] {
      if (request.preconditioned) {
        precondition(r_, z_);
      } else {
        work_.waxpby(1.0, r_, 0.0, r_, z_);
      }
    });
    const double before = rz;
    timed(seconds.ddot, [&] { rz = sum_up(work_.dot(r_, z_)); });
    timed(seconds.waxpby, [&] {
      if (k == 1) {
        work_.waxpby(1.0, z_, 0.0, z_, p_);
      } else {
        work_.turn(alpha, rz / before, z_, x, p_);
      }
    });
    double pAp = 0;
    timed(seconds.spmv, [&] { pAp = sum_up(local_multiply(levels_.front(), p_, Ap_)); });
    alpha = rz / pAp;
    timed(seconds.waxpby, [&] { square = sum_up(work_.step_back(alpha, Ap_, r_)); });
    result.residual = std::sqrt(square);
    result.iterations = k;
    if (request.history) request.history->push_back(result.scaled());
  }
  if (result.iterations > 0) timed(seconds.waxpby, [&] { work_.step(alpha, p_, x); });
  seconds.total += total.seconds();
  return result;
}

Vector<double> Optimised::diagonal() const {
  const StructMatrix<double>& A = levels_.front().A;
  V values(A.rows());
  for (std::int64_t point = 0; point < A.rows(); ++point) values[point] = A.block(point, A.stencil().center())[0];
  return values;
}

void Optimised::replace_diagonal(const V& natural) {
  Level& level = levels_.front();
  const int centre = level.A.stencil().center();
  for (std::int64_t point = 0; point < natural.size(); ++point) level.A.block(point, centre)[0] = natural[point];
  level.smoother->refresh(level.A);
}

double Optimised::iteration_bytes() const {
  constexpr double number = sizeof(double);
  double bytes = levels_.front().smoother->traffic().multiply;
  // r·z; r's step; x's step and the next direction
  bytes += (2 + 3 + 5) * number * static_cast<double>(length());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const auto traffic = levels_[l].smoother->traffic();
    bytes += traffic.zero;
    if (l + 1 == levels_.size()) continue;
    const auto n = static_cast<double>(levels_[l].smoother->length());
    bytes += traffic.guess + (separate_ ? traffic.multiply : traffic.coarse_residual);
    // Injected points lie in a quarter of x's cache lines, and of r and A x too.
    bytes += (0.5 * n + n / 8) * number;
    if (separate_) bytes += (0.5 * n + n / 8) * number;
  }
  double all = bytes;
  communicator_.sum({&all, 1});
  return all;
}

}  // namespace echelon::hpcg
