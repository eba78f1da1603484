// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/tile_run.hpp"

#include <cmath>
#include <utility>

#include "apps/hpcg/clock.hpp"
#include "apps/hpcg/vector_work.hpp"
#include "cli/machine_info.hpp"

namespace echelon::hpcg {

TileRun::TileRun(std::vector<StructMatrix<double>> matrices, Device device)
    : device_(device), A_(std::move(matrices.front())), work_(0, Device::host()) {
  levels_.reserve(matrices.size());
  for (std::size_t l = 0; l < matrices.size(); ++l) {
    levels_.push_back({TileGaussSeidel(l == 0 ? A_ : matrices[l], device), {}, {}, {}, {}});
    if (l == 0) continue;
    Level& fine = levels_[l - 1];
    const TileMatrix &from = fine.smoother.matrix(), &to = levels_[l].smoother.matrix();
    fine.injection.emplace(from.order(), to.order());
    fine.Ax = V(from.kept_size(), 0.0, device);
    fine.coarse_r = V(to.kept_size(), 0.0, device);
    fine.coarse_x = V(to.kept_size(), 0.0, device);
  }
  work_ = CgVectors(matrix().kept_size(), device);
  for (V* vector : {&r_, &z_, &p_, &Ap_}) *vector = zeros();
}

Vector<double> TileRun::in_own_order(const V& natural) const {
  V own = zeros();
  matrix().keep(natural.to(device_), own);
  return own;
}

double TileRun::multiply(const V& x, V& y) {
  matrix().apply(x, y);
  return work_.dot(x, y);
}

void TileRun::cycle(std::size_t l, const V& r, V& x) {
  Level& level = levels_[l];
  level.smoother.from_zero(r, x);
  if (l + 1 == levels_.size()) return;
  level.smoother.matrix().apply(x, level.Ax);
  level.injection->restrict_residual(r, level.Ax, level.coarse_r);
  cycle(l + 1, level.coarse_r, level.coarse_x);
  level.injection->add(level.coarse_x, x);
  level.smoother.from_guess(r, x);
}

void TileRun::precondition(V& r, V& x) {
  cycle(0, r, x);
  // What was queued is done: its time is the V-cycle's, not the next sum's.
  levels_.front().smoother.settle();
}

CgResult TileRun::solve(const V& b, V& x, const CgRequest& request, CgSeconds& seconds) {
  const Clock total;
  const auto timed = [](double& part, const auto& work) {
    const Clock clock;
    work();
    part += clock.seconds();
  };
  CgResult result;
  double square = 0;
  work_.clear(x);
  timed(seconds.spmv, [&] {
    matrix().residual(b, x, r_);
    square = work_.dot(r_, r_);
  });
  result.first_residual = result.residual = std::sqrt(square);
  double rz = 0;
  for (int k = 1; k <= request.iterations && result.scaled() > request.tolerance; ++k) {
    ask_whether_to_go_on(request.ask);
    timed(seconds.mg, [&] {
      if (request.preconditioned) {
        precondition(r_, z_);
      } else {
        z_.copy_from(r_);
      }
    });
    const double before = rz;
    timed(seconds.ddot, [&] { rz = work_.dot(r_, z_); });
    timed(seconds.waxpby, [&] {
      if (k == 1) {
        p_.copy_from(z_);
      } else {
        work_.turn(z_, rz / before, p_);
      }
    });
    double pAp = 0;
    timed(seconds.spmv, [&] { pAp = multiply(p_, Ap_); });
    timed(seconds.waxpby, [&] { square = work_.step(rz / pAp, p_, Ap_, x, r_); });
    result.residual = std::sqrt(square);
    result.iterations = k;
    if (request.history) request.history->push_back(result.scaled());
  }
  for (const Level& level : levels_) level.smoother.settle();
  seconds.total += total.seconds();
  return result;
}

Vector<double> TileRun::diagonal() const {
  V values(A_.rows());
  for (std::int64_t point = 0; point < A_.rows(); ++point) values[point] = A_.block(point, A_.stencil().center())[0];
  return values;
}

void TileRun::replace_diagonal(const V& natural) {
  for (std::int64_t point = 0; point < natural.size(); ++point) {
    A_.block(point, A_.stencil().center())[0] = natural[point];
  }
  levels_.front().smoother.refresh(A_);
}

std::int64_t TileRun::bytes() const {
  std::int64_t sum = r_.bytes() + z_.bytes() + p_.bytes() + Ap_.bytes();
  for (const Level& level : levels_) {
    sum += level.smoother.bytes() + level.Ax.bytes() + level.coarse_r.bytes() + level.coarse_x.bytes();
    if (level.injection) sum += level.injection->bytes();
  }
  return sum;
}

double TileRun::iteration_bytes() const {
  constexpr double number = sizeof(double), place = sizeof(std::int32_t);
  // r·z, p·A p; the steps of x and r; the next direction
  double bytes = (2 + 2 + 6 + 3) * number * static_cast<double>(matrix().kept_size());
  bytes += levels_.front().smoother.traffic().multiply;
  for (const Level& level : levels_) {
    const auto traffic = level.smoother.traffic();
    bytes += traffic.zero;
    if (!level.injection) continue;
    bytes += traffic.multiply + traffic.guess;
    // Of the fine vectors, the injected points alone: r and A x, then x read and written.
    bytes += (2 * (place + number) + 4 * number) * static_cast<double>(level.coarse_r.size());
  }
  return bytes;
}

double TileRun::bandwidth(double bytes) const {
  return device_.is_host() ? measure_triad(static_cast<std::int64_t>(bytes)) : cli::cuda_backend_info(true).copy_bandwidth;
}

std::string TileRun::gpu() const { return device_.is_host() ? std::string() : cli::cuda_backend_info().name; }

}  // namespace echelon::hpcg
