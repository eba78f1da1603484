// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/vector_work.hpp"

#include <omp.h>

#include <algorithm>
#include <vector>

#include "apps/hpcg/clock.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::hpcg {
namespace {

constexpr std::int64_t chunk = 4096;
constexpr int lanes = 16;

std::int64_t chunks(std::int64_t n) { return (n + chunk - 1) / chunk; }

/// Σ term(i), i < n: lane l takes l, l + 16, …; the lanes are added by halves.
template <class Term>
double lane_sum(std::int64_t n, const Term& term) {
  double lane[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (int l = 0; l < lanes; ++l) lane[l] += term(i + l);
  }
  for (int l = 0; i < n; ++i, ++l) lane[l] += term(i);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

}  // namespace

VectorWork::VectorWork(std::int64_t n) : n_(n), partial_(chunks(n)) {}

template <class Work>
void VectorWork::for_chunks(const Work& work) const {
  const std::int64_t count = chunks(n_);
#pragma omp parallel num_threads(threads())
  {
    const auto [from, to] = share(count, omp_get_thread_num(), omp_get_num_threads());
    for (std::int64_t c = from; c < to; ++c) work(c, c * chunk, std::min(chunk, n_ - c * chunk));
  }
}

template <class Work>
double VectorWork::sum_chunks(const Work& work) {
  double* sums = partial_.data();
  for_chunks([&](std::int64_t c, std::int64_t at, std::int64_t n) { sums[c] = work(at, n); });
  for (std::int64_t width = partial_.size(); width > 1; width = (width + 1) / 2) {
    for (std::int64_t i = 0; i < width / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
    if (width % 2) sums[width / 2] = sums[width - 1];
  }
  return sums[0];
}

double VectorWork::dot(const V& x, const V& y) {
  return sum_chunks([&](std::int64_t at, std::int64_t n) {
    const double *xp = x.data() + at, *yp = y.data() + at;
    return lane_sum(n, [=](std::int64_t i) { return xp[i] * yp[i]; });
  });
}

void VectorWork::waxpby(double a, const V& x, double b, const V& y, V& w) {
  for_chunks([&](std::int64_t, std::int64_t at, std::int64_t n) {
    const double *xp = x.data() + at, *yp = y.data() + at;
    double* wp = w.data() + at;
    for (std::int64_t i = 0; i < n; ++i) wp[i] = a * xp[i] + b * yp[i];
  });
}

double VectorWork::subtract(const V& b, const V& q, V& r) {
  return sum_chunks([&](std::int64_t at, std::int64_t n) {
    const double *bp = b.data() + at, *qp = q.data() + at;
    double* rp = r.data() + at;
    return lane_sum(n, [=](std::int64_t i) {
      rp[i] = bp[i] - qp[i];
      return rp[i] * rp[i];
    });
  });
}

double VectorWork::step_back(double a, const V& q, V& r) {
  return sum_chunks([&](std::int64_t at, std::int64_t n) {
    const double* __restrict qp = q.data() + at;
    double* __restrict rp = r.data() + at;
    return lane_sum(n, [=](std::int64_t i) {
      const double value = rp[i] - a * qp[i];
      rp[i] = value;
      return value * value;
    });
  });
}

void VectorWork::turn(double a, double b, const V& z, V& x, V& p) {
  for_chunks([&](std::int64_t, std::int64_t at, std::int64_t n) {
    const double* __restrict zp = z.data() + at;
    double* __restrict xp = x.data() + at;
    double* __restrict pp = p.data() + at;
    for (std::int64_t i = 0; i < n; ++i) {
      const double direction = pp[i];
      xp[i] += a * direction;
      pp[i] = zp[i] + b * direction;
    }
  });
}

void VectorWork::step(double a, const V& p, V& x) {
  for_chunks([&](std::int64_t, std::int64_t at, std::int64_t n) {
    const double* __restrict pp = p.data() + at;
    double* __restrict xp = x.data() + at;
    for (std::int64_t i = 0; i < n; ++i) xp[i] += a * pp[i];
  });
}

double measure_triad(std::int64_t bytes) {
  constexpr int passes = 7;
  const std::int64_t n = std::max<std::int64_t>(bytes / 24, chunk);
  // Odd distances between the arrays: those of whole pages would share the sets of a cache.
  constexpr std::int64_t apart = 208;
  Array<double> numbers(3 * (n + apart));
  double* const base = numbers.data();
  const auto pass = [&](bool first) {
#pragma omp parallel num_threads(threads())
    {
      const auto [from, to] = share(n, omp_get_thread_num(), omp_get_num_threads(), 512);
      double* __restrict a = base;
      double* __restrict b = base + n + apart;
      double* __restrict c = base + 2 * (n + apart);
      if (first) {
        for (std::int64_t i = from; i < to; ++i) a[i] = b[i] = c[i] = 1.0;
      } else {
        for (std::int64_t i = from; i < to; ++i) a[i] = b[i] + 0.5 * c[i];
      }
    }
  };
  pass(true);
  pass(false);
  std::vector<double> seconds;
  for (int i = 0; i < passes; ++i) {
    const Clock clock;
    pass(false);
    seconds.push_back(clock.seconds());
  }
  std::ranges::nth_element(seconds, seconds.begin() + passes / 2);
  return 24.0 * static_cast<double>(n) / seconds[passes / 2];
}

}  // namespace echelon::hpcg
