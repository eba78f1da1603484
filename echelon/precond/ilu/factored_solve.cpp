// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/ilu/factored_solve.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <vector>

#include "echelon/base/small_block.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/matrix/vector_checks.hpp"
#include "echelon/sweep/iterated/trisolve_note.hpp"

namespace echelon {

template <class T>
void FactoredSolve<T>::plan(SweepSchedule schedule, int team) {
  std::exception_ptr failed;
  // Two plans, two threads: neither knows of the other. Only the calling thread is asked whether to go on, so it does not
  // leave a plan of many seconds to the other one.
  constexpr std::int64_t entries_of_a_second = 50'000'000;
  const bool apart = team > 1 && factors.rows > 10'000 &&
                     (!WorkWatch::current() || factors.lower.entries() + factors.upper.entries() < entries_of_a_second);
#pragma omp parallel for num_threads(threads()) if (apart) schedule(static, 1)
  for (int which = 0; which < 2; ++which) {
    try {
      const auto& triangle = which == 0 ? factors.lower : factors.upper;
      (which == 0 ? lower_plan_ : upper_plan_) = make_plan(triangle, factors.block, schedule, team);
    } catch (...) {
#pragma omp critical(echelon_plan_failed)
      failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
  sweeps_ = TriangularSolve<T>(factors, team);
  fit(scratch_.own());
}

template <class T>
void FactoredSolve<T>::fit(Scratch& scratch) const {
  sweeps_.fit(scratch.sweeps);
  const std::int64_t size = factors.rows * factors.block;
  if (scratch.vector.size() != size) scratch.vector = Array<T>(size);
}

template <class T>
void FactoredSolve<T>::sweep(const T* r, T* x, Scratch& scratch) const {
  if (iterates_) {
    iteration_.apply(r, x);
  } else {
    exact_sweep(r, x, scratch);
  }
}

template <class T>
void FactoredSolve<T>::choose(const TrisolveOptions& options, FactorReport& report) {
  iterates_ = false;
  report.trisolve.reset();
  report.bytes -= counted_bytes_;
  counted_bytes_ = 0;
  if (options.method == Trisolve::exact || !report.ok) return;
  if (options.method == Trisolve::automatic) {
    note_exact_sweeps(options, "on the host one exact sweep reads the factors once, an iteration as often as it sweeps",
                      report);
    return;
  }
  iterates_ = iteration_.prepare(factors, options, report);
  counted_bytes_ = iteration_.bytes();
  report.bytes += counted_bytes_;
}

template <class T>
void FactoredSolve<T>::exact_sweep(const T* r, T* x, Scratch& scratch) const {
  sweeps_.lower(factors, lower_plan_, scratch.sweeps, r, x);
  sweeps_.upper(factors, upper_plan_, scratch.sweeps, x);
}

template <class T>
double FactoredSolve<T>::inverse_growth() {
  auto& own = scratch_.own();
  own.vector.fill(1);
  exact_sweep(own.vector.data(), own.vector.data(), own);
  return largest_in_scratch();
}

template <class T>
double FactoredSolve<T>::growth(FactorBounds bounds, double norm) {
  auto& own = scratch_.own();
  own.vector.fill(1);
  sweeps_.lower(factors, lower_plan_, own.sweeps, own.vector.data(), own.vector.data());
  if (bounds.bounded()) bounds.include_solved(largest_scaled());
  return growth_by(bounds.of_inverse(), norm, [this, &own] {
    sweeps_.upper(factors, upper_plan_, own.sweeps, own.vector.data());
    return largest_in_scratch();
  });
}

/// ‖|D⁻¹||x|‖∞ of what is in the scratch; NaN or Inf when a product is.
template <class T>
double FactoredSolve<T>::largest_scaled() const {
  constexpr std::int64_t lanes = 8;  // apart, so that none waits for the one before
  const int b = factors.block;
  const Array<T>& x = scratch_.own().vector;
  T largest[lanes] = {}, poison[lanes] = {};
  const auto take = [&](std::int64_t lane, T product) {
    largest[lane] = product > largest[lane] ? product : largest[lane];
    poison[lane] += product * 0;
  };
  if (b == 1) {
    const auto product = [&](std::int64_t i) { return magnitude(factors.inverse_diagonal[i]) * magnitude(x[i]); };
    std::int64_t i = 0;
    for (; i + lanes <= factors.rows; i += lanes) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) take(lane, product(i + lane));
    }
    for (; i < factors.rows; ++i) take(0, product(i));
  } else {
    for (std::int64_t i = 0; i < factors.rows; ++i) {
      const T* D = factors.inverse_diagonal.data() + i * b * b;
      for (int r = 0; r < b; ++r) take(r % lanes, absolute_product(b, D + r, x.data() + i * b));
    }
  }
  T all = 0, poisoned = 0;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    all = std::max(all, largest[lane]);
    poisoned += poison[lane];
  }
  return static_cast<double>(all) + static_cast<double>(poisoned);
}

template <class T>
double FactoredSolve<T>::largest_in_scratch() const {
  T largest = 0, poison = 0;  // 0·x is NaN for what is not finite, and stays so in a sum
  for (const T value : scratch_.own().vector) {
    largest = std::max(largest, magnitude(value));
    poison += value * 0;
  }
  return poison != 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(largest);
}

template <class T>
void FactoredSolve<T>::apply(const Vector<T>& r, Vector<T>& z, const Orders& orders) const {
  const auto size = factors.rows * factors.block;
  if (r.size() != size) throw_size_mismatch("right-hand side of an ILU", r.size(), size);
  if (z.size() != size) throw_size_mismatch("result of an ILU", z.size(), size);
  auto scratch = scratch_.take([this](Scratch& spare) { fit(spare); });
  if (orders.rows.empty() && orders.columns.empty()) {
    sweep(r.data(), z.data(), *scratch);
    return;
  }
  const std::int64_t n = factors.rows, b = factors.block;
  const T* from = r.data();
  T* to = z.data();
  T* inner = scratch->vector.data();
  const std::int32_t* rows = orders.rows.empty() ? nullptr : orders.rows.data();
  const std::int32_t* columns = orders.columns.empty() ? nullptr : orders.columns.data();
  const int team = lower_plan_.threads;
#pragma omp parallel for num_threads(team) if (team > 1)
  for (std::int64_t i = 0; i < n; ++i) std::copy_n(from + (rows ? rows[i] : i) * b, b, inner + i * b);
  sweep(inner, inner, *scratch);
#pragma omp parallel for num_threads(team) if (team > 1)
  for (std::int64_t i = 0; i < n; ++i) std::copy_n(inner + i * b, b, to + (columns ? columns[i] : i) * b);
}

template <class T>
BlockCsr<T> FactoredSolve<T>::lower() const {
  const auto& L = factors.lower;
  Array<std::int32_t> column(L.entries());
  with_distances(L, [&](const auto* distance) {
    for (std::int64_t i = 0; i < L.rows; ++i) {
      for (auto p = L.start[i]; p < L.start[i + 1]; ++p) column[p] = static_cast<std::int32_t>(i - distance[p]);
    }
  });
  return BlockCsr<T>(L.rows, L.rows, factors.block, L.start.clone(), std::move(column), factors.lower_values.clone());
}

template <class T>
BlockCsr<T> FactoredSolve<T>::upper() const {
  const auto& U = factors.upper;
  const auto n = U.rows, size = std::int64_t{factors.block} * factors.block;
  Array<std::int64_t> start(n + 1);
  Array<std::int32_t> column(U.entries() + n);
  Array<T> values((U.entries() + n) * size);
  std::vector<int> swaps(static_cast<std::size_t>(factors.block));
  std::int64_t at = 0;
  with_distances(U, [&](const auto* distance) {
    for (std::int64_t i = 0; i < n; ++i) {
      start[i] = at;
      column[at] = static_cast<std::int32_t>(i);
      std::copy_n(factors.inverse_diagonal.data() + i * size, size, values.data() + at * size);
      static_cast<void>(invert<0>(factors.block, values.data() + at * size, swaps.data()));
      ++at;
      for (auto p = U.start[n - 1 - i]; p < U.start[n - i]; ++p, ++at) {
        column[at] = static_cast<std::int32_t>(i + distance[p]);
        std::copy_n(factors.upper_values.data() + p * size, size, values.data() + at * size);
      }
    }
  });
  start[n] = at;
  return BlockCsr<T>(n, n, factors.block, std::move(start), std::move(column), std::move(values));
}

template <class T>
void FactoredSolve<T>::describe(std::int64_t blocks_of_A, FactorReport& report) const {
  report.block = factors.block;
  report.kernel = sweeps_.kernel_name(factors.block);
  report.schedule = word(lower_plan_.kind);
  report.levels = lower_plan_.levels;
  const auto stored = factors.lower.entries() + factors.upper.entries() + factors.rows;
  report.fill_ratio = blocks_of_A > 0 ? static_cast<double>(stored) / static_cast<double>(blocks_of_A) : 1;
  report.bytes = factors.bytes() + lower_plan_.bytes() + upper_plan_.bytes() + scratch_.own().vector.bytes() +
                 scratch_.own().sweeps.bytes() + sweeps_.bytes();
  counted_bytes_ = 0;
}

template class FactoredSolve<double>;
template class FactoredSolve<float>;

}  // namespace echelon
