// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/dbsr/four_levels.hpp"

#include <cmath>

#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"

namespace echelon::bench {
namespace {

template <class Work>
void for_places(std::int64_t n, const Work& work) {
#pragma omp parallel for schedule(static) num_threads(threads())
  for (std::int64_t p = 0; p < n; ++p) work(p);
}

template <class T>
double dot(const Vector<T>& u, const Vector<T>& v) {
  double sum = 0;
  const T *a = u.data(), *b = v.data();
  const std::int64_t n = u.size();
#pragma omp parallel for schedule(static) num_threads(threads()) reduction(+ : sum)
  for (std::int64_t p = 0; p < n; ++p) sum += static_cast<double>(a[p]) * static_cast<double>(b[p]);
  return sum;
}

}  // namespace

template <class T>
FourLevels<T>::FourLevels(const std::vector<StructMatrix<T>>& matrices, const Strategy& strategy) {
  for (const auto& A : matrices) {
    Level level;
    level.form = make_form(A, strategy);
    const std::int64_t n = level.form->length();
    for (auto* vector : {&level.r, &level.x, &level.rest}) *vector = Vector<T>(n, T(0));
    if (!levels_.empty()) {
      const Grid& fine = matrices[levels_.size() - 1].grid();
      const auto place = level.form->places(), above = levels_.back().form->places();
      level.fine_place = Array<std::int32_t>(n, -1);
      std::int64_t point = 0;
      for (std::int64_t k = 0; k < A.grid().nz; ++k) {
        for (std::int64_t j = 0; j < A.grid().ny; ++j) {
          for (std::int64_t i = 0; i < A.grid().nx; ++i, ++point) {
            const auto at = static_cast<std::size_t>((2 * k * fine.ny + 2 * j) * fine.nx + 2 * i);
            level.fine_place[place.empty() ? point : place[static_cast<std::size_t>(point)]] =
                above.empty() ? static_cast<std::int32_t>(at) : above[at];
          }
        }
      }
    }
    levels_.push_back(std::move(level));
  }
}

template <class T>
void FourLevels<T>::factor() {
  for (auto& level : levels_) level.form->factor();
}

template <class T>
void FourLevels<T>::step(Level& level, const Vector<T>& b, Vector<T>& x) {
  level.form->multiply(x, level.rest);
  T* const rest = level.rest.data();
  const T* const right = b.data();
  T* const own = x.data();
  const std::int64_t n = x.size();
  for_places(n, [=](std::int64_t p) { rest[p] = right[p] - rest[p]; });
  level.form->sweep(level.rest, level.rest);
  for_places(n, [=](std::int64_t p) { own[p] += rest[p]; });
}

template <class T>
void FourLevels<T>::smoothing_step(const Vector<T>& b, Vector<T>& x) {
  step(levels_.front(), b, x);
}

template <class T>
void FourLevels<T>::cycle(std::size_t at, const Vector<T>& r, Vector<T>& x) {
  Level& level = levels_[at];
  level.form->sweep(r, x);
  if (at + 1 == levels_.size()) return;
  Level& coarse = levels_[at + 1];
  level.form->multiply(x, level.rest);
  const std::int32_t* const fine = coarse.fine_place.data();
  T* const to = coarse.r.data();
  const T *const right = r.data(), *const rest = level.rest.data();
  for_places(coarse.r.size(), [=](std::int64_t p) { to[p] = fine[p] < 0 ? T(0) : right[fine[p]] - rest[fine[p]]; });
  cycle(at + 1, coarse.r, coarse.x);
  const T* const correction = coarse.x.data();
  T* const own = x.data();
  for_places(coarse.x.size(), [=](std::int64_t p) {
    if (fine[p] >= 0) own[fine[p]] += correction[p];
  });
  step(level, r, x);
}

template <class T>
CgOutcome FourLevels<T>::solve(const Vector<T>& b, Vector<T>& x, double rtol, std::int64_t max_it) {
  const std::int64_t n = b.size();
  Vector<T> r(n, T(0)), z(n, T(0)), p(n, T(0)), Ap(n, T(0));
  T *const xs = x.data(), *const rs = r.data(), *const zs = z.data(), *const ps = p.data(), *const As = Ap.data();
  const T* const bs = b.data();
  CgOutcome outcome;
  const Timer timer;
  for_places(n, [=](std::int64_t i) { xs[i] = 0, rs[i] = bs[i]; });
  const double goal = rtol * std::sqrt(dot(b, b));
  double rz = 0;
  for (; outcome.iterations < max_it; ++outcome.iterations) {
    if (std::sqrt(dot(r, r)) <= goal) {
      outcome.converged = true;
      break;
    }
    cycle(0, r, z);
    const double next = dot(r, z);
    const T beta = static_cast<T>(outcome.iterations == 0 ? 0 : next / rz);
    rz = next;
    for_places(n, [=](std::int64_t i) { ps[i] = zs[i] + beta * ps[i]; });
    levels_.front().form->multiply(p, Ap);
    const T alpha = static_cast<T>(rz / dot(p, Ap));
    for_places(n, [=](std::int64_t i) {
      xs[i] += alpha * ps[i];
      rs[i] -= alpha * As[i];
    });
  }
  outcome.seconds = timer.seconds();
  return outcome;
}

template class FourLevels<double>;
template class FourLevels<float>;

}  // namespace echelon::bench
