// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/reference.hpp"

#include <algorithm>
#include <cmath>

#include "apps/hpcg/clock.hpp"

namespace echelon::hpcg {
namespace {

/// visit(fine, coarse): the rows of each coarse point on both levels.
template <class Visit>
void for_even_points(const Grid& fine, const Visit& visit) {
  std::int64_t coarse = 0;
  for (std::int64_t k = 0; k < fine.nz; k += 2) {
    for (std::int64_t j = 0; j < fine.ny; j += 2) {
      for (std::int64_t i = 0; i < fine.nx; i += 2) visit(fine.index(i, j, k), coarse++);
    }
  }
}

}  // namespace

Reference::Level::Level(const Geometry& g, const Communicator& communicator)
    : geometry(g), halo(halo_of(g, communicator)), A(g, halo) {}

Reference::Reference(const std::vector<Geometry>& levels, const Communicator& communicator)
    : communicator_(communicator), work_(levels.front().local.points()) {
  levels_.reserve(levels.size());
  for (const auto& geometry : levels) levels_.emplace_back(geometry, communicator);
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    levels_[l].Ax = Vector<double>(levels_[l].A.rows());
    levels_[l].coarse_r = Vector<double>(levels_[l + 1].A.rows());
    levels_[l].coarse_x = Vector<double>(levels_[l + 1].A.columns());
  }
}

std::vector<double> Reference::level_bytes() const {
  std::vector<double> bytes;
  for (const auto& level : levels_) {
    bytes.push_back(
        static_cast<double>(level.A.bytes() + level.Ax.bytes() + level.coarse_r.bytes() + level.coarse_x.bytes()));
  }
  return bytes;
}

void Reference::exchange(Level& level, Vector<double>& x) {
  level.halo.start(x.data());
  const auto others = level.halo.finish();
  std::copy(others.begin(), others.end(), x.begin() + level.A.rows());
}

void Reference::multiply(Vector<double>& x, Vector<double>& y) {
  exchange(levels_.front(), x);
  levels_.front().A.multiply(x, y);
}

void Reference::smooth(Level& level, const Vector<double>& r, Vector<double>& x) {
  exchange(level, x);
  level.A.smooth(r, x);
}

void Reference::cycle(std::size_t l, const Vector<double>& r, Vector<double>& x) {
  Level& level = levels_[l];
  x.fill(0.0);
  smooth(level, r, x);
  if (l + 1 == levels_.size()) return;
  exchange(level, x);
  level.A.multiply(x, level.Ax);
  const Grid& fine = level.geometry.local;
  for_even_points(fine, [&](auto f, auto c) { level.coarse_r[c] = r[f] - level.Ax[f]; });
  cycle(l + 1, level.coarse_r, level.coarse_x);
  for_even_points(fine, [&](auto f, auto c) { x[f] += level.coarse_x[c]; });
  smooth(level, r, x);
}

CgResult Reference::solve(const Vector<double>& b, Vector<double>& x, const CgRequest& request, CgSeconds& seconds) {
  const Clock total;
  const std::int64_t n = rows();
  Vector<double> r(n), Ap(n), z(columns()), p(columns());
  const auto timed = [](double& part, const auto& work) {
    const Clock clock;
    work();
    part += clock.seconds();
  };
  const auto dot = [&](const Vector<double>& u, const Vector<double>& v) {
    double sum = 0;
    timed(seconds.ddot, [&] {
      sum = work_.dot(u, v);
      timed(seconds.allreduce, [&] { communicator_.sum({&sum, 1}); });
    });
    return sum;
  };
  CgResult result;
  x.fill(0.0);
  p.fill(0.0);
  timed(seconds.spmv, [&] { multiply(p, Ap); });
  timed(seconds.waxpby, [&] { work_.waxpby(1.0, b, -1.0, Ap, r); });
  result.first_residual = result.residual = std::sqrt(dot(r, r));
  double rz = 0;
  for (int k = 1; k <= request.iterations && result.scaled() > request.tolerance; ++k) {
    ask_whether_to_go_on(request.ask);
    timed(seconds.mg, [&] {
      if (request.preconditioned) {
        precondition(r, z);
      } else {
        work_.waxpby(1.0, r, 0.0, r, z);
      }
    });
    const double before = rz;
    rz = dot(r, z);
    timed(seconds.waxpby, [&] { work_.waxpby(1.0, z, k == 1 ? 0.0 : rz / before, k == 1 ? z : p, p); });
    timed(seconds.spmv, [&] { multiply(p, Ap); });
    const double alpha = rz / dot(p, Ap);
    timed(seconds.waxpby, [&] {
      work_.waxpby(1.0, x, alpha, p, x);
      work_.waxpby(1.0, r, -alpha, Ap, r);
    });
    result.residual = std::sqrt(dot(r, r));
    result.iterations = k;
    if (request.history) request.history->push_back(result.scaled());
  }
  seconds.total += total.seconds();
  return result;
}

}  // namespace echelon::hpcg
