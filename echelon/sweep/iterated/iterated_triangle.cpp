// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/iterated/iterated_triangle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/factor/rows/triangle_measures.hpp"
#include "echelon/sweep/iterated/iteration_guard.hpp"

namespace echelon {
namespace {

constexpr int probes = 3;
/// Random vectors prove nothing: they must do better than the bound has to.
constexpr double probed_left_over_limit = 0.5;

template <class T>
void set_size(Array<T>& values, std::int64_t n) {
  if (values.size() != n) values = Array<T>(n);
}

}  // namespace

template <class T>
void IteratedTriangle<T>::prepare(const TriangleView<T>& triangle, const TrisolveOptions& options, bool scale_it,
                                  Scratch& scratch) {
  triangle_ = triangle;
  options_ = options;
  scaled_ = scale_it;
  note_ = {};
  note_.levels = level_count(*triangle.pattern, options.rows_a_block);
  note_.sweeps = static_cast<int>(std::min<std::int64_t>(options.sweeps, std::max<std::int64_t>(note_.levels, 1)));
  // A damped iteration is exact after no number of sweeps.
  if (options.damping != 1) note_.sweeps = options.sweeps;
  kernels_ = iteration_kernels<T>(triangle.block, triangle.pattern->narrow, triangle.lower);
  team_ = threads_for(triangle.pattern->entries() * triangle.block * triangle.block);
  fit(scratch);
  Array<T> diagonal = diagonal_blocks(triangle);
  note_.departure = departure(triangle);
  note_.normalised_departure = normalised_departure(triangle);
  note_.condition = condition_1(triangle);
  if (scaled_) {
    scale(diagonal);
  } else if (options.form == JacobiForm::noncompact) {
    diagonal_ = std::move(diagonal);
  }
  look(sizeof(T) == 4, scratch);
}

template <class T>
void IteratedTriangle<T>::fit(Scratch& scratch) const {
  const std::int64_t n = triangle_.rows() * triangle_.block;
  for (auto& iterate : scratch.iterates) set_size(iterate, n);
  set_size(scratch.rows, std::int64_t{2} * team_ * triangle_.block);
  if (options_.method == Trisolve::neumann) set_size(scratch.total, n);
  if (scaled_) set_size(scratch.right, n);
}

/// R⁻¹ T C⁻¹, and for its diagonal blocks (R⁻¹ D C⁻¹)⁻¹ = C D⁻¹ R.
template <class T>
void IteratedTriangle<T>::scale(const Array<T>& diagonal) {
  const int b = triangle_.block;
  const std::int64_t size = std::int64_t{b} * b, rows = triangle_.rows();
  equilibrate(triangle_, diagonal.empty() ? nullptr : diagonal.data(), scaling_);
  note_.scaling_rounds = scaling_.rounds;
  note_.scaling_deviation = scaling_.deviation;
  set_size(values_, triangle_.pattern->entries() * size);
  set_size(inverse_diagonal_, rows * size);
  set_size(diagonal_, rows * size);
  const auto divided = [&](double value, std::int64_t row, std::int64_t column) {
    return static_cast<T>(value / (scaling_.row[row] * scaling_.column[column]));
  };
  for (std::int64_t s = 0; s < rows; ++s) {
    const auto i = triangle_.row_at(s);
    for_entries(triangle_, s, [&](std::int64_t j, const T* block) {
      T* to = values_.data() + (block - triangle_.values);
      for (int c = 0; c < b; ++c) {
        for (int r = 0; r < b; ++r) to[c * b + r] = divided(static_cast<double>(block[c * b + r]), i * b + r, j * b + c);
      }
    });
    for (int c = 0; c < b; ++c) {
      for (int r = 0; r < b; ++r) {
        const auto at = i * size + c * b + r;
        const double unit = r == c ? 1 : 0;
        diagonal_[at] = divided(diagonal.empty() ? unit : static_cast<double>(diagonal[at]), i * b + r, i * b + c);
        const double inverse = triangle_.inverse_diagonal ? static_cast<double>(triangle_.inverse_diagonal[at]) : unit;
        inverse_diagonal_[at] = static_cast<T>(inverse * (scaling_.column[i * b + r] * scaling_.row[i * b + c]));
      }
    }
  }
  note_.scaled_departure = departure(swept());
  note_.scaled_condition = condition_1(swept());
}

template <class T>
TriangleView<T> IteratedTriangle<T>::swept() const {
  if (!scaled_) return triangle_;
  return {triangle_.pattern, triangle_.lower, triangle_.block, values_.data(), inverse_diagonal_.data()};
}

template <class T>
IterationView<T> IteratedTriangle<T>::view(const T* r, T* total) const {
  const TriangleView<T> triangle = swept();
  IterationView<T> v{};
  v.rows = triangle.rows();
  v.block = triangle.block;
  v.start = triangle.pattern->start.data();
  v.distance = with_distances(*triangle.pattern, [](const auto* d) { return static_cast<const void*>(d); });
  v.values = triangle.values;
  v.inverse_diagonal = triangle.inverse_diagonal;
  v.diagonal = diagonal();
  v.r = r;
  v.total = options_.method == Trisolve::neumann ? total : nullptr;
  v.damping = static_cast<T>(options_.damping);
  v.rows_a_block = options_.rows_a_block;
  return v;
}

/// Growth is measured in the user's variables: the unscaled triangle.
template <class T>
void IteratedTriangle<T>::look(bool single_precision, Scratch& scratch) {
  const ErrorGrowth bound = bound_of_growth(triangle_, options_, note_.sweeps);
  note_.growth = bound.largest;
  note_.left_over = bound.last;
  objection_ = echelon::objection(bound, note_, options_, single_precision);
  if (objection_.empty() || options_.rows_a_block > 1) return;
  ErrorGrowth probed{1, 0};
  for (std::uint64_t seed = 1; seed <= probes; ++seed) {
    double largest = 0;
    probed.last = std::max(probed.last, probe(seed, largest, scratch) / probed_left_over_limit);
    probed.largest = std::max(probed.largest, largest);
  }
  if (!echelon::objection(probed, note_, options_, single_precision).empty()) return;
  objection_.clear();
  note_.probed = true;
  note_.growth = probed.largest;
  note_.left_over = probed.last * probed_left_over_limit;
}

/// ‖G^k s‖∞ after the last sweep for random signs s, and the largest on the way.
template <class T>
double IteratedTriangle<T>::probe(std::uint64_t seed, double& largest, Scratch& scratch) {
  const std::int64_t n = triangle_.rows() * triangle_.block;
  Array<T> zero(n, T(0));
  const TriangleView<T> own = triangle_;
  IterationView<T> v = view(zero.data(), nullptr);
  v.values = own.values;
  v.inverse_diagonal = own.inverse_diagonal;
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u;
  for (std::int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    scratch.iterates[0][i] = (state >> 63) != 0 ? T(1) : T(-1);
  }
  double last = 1;
  for (int k = 0; k < note_.sweeps && std::isfinite(last); ++k) {
    v.from = scratch.iterates[k % 2].data();
    v.to = scratch.iterates[1 - k % 2].data();
    keep_going(triangle_.pattern->entries() * triangle_.block * triangle_.block + n);
    kernels_.compact(v, 0, v.rows, scratch.rows.data());
    last = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double size = std::abs(static_cast<double>(v.to[i]));
      last = std::isfinite(size) ? std::max(last, size) : std::numeric_limits<double>::infinity();
    }
    largest = std::max(largest, last);
  }
  return last;
}

template <class T>
const T* IteratedTriangle<T>::run(const T* r, Scratch& scratch) const {
  const int b = triangle_.block;
  const bool neumann = options_.method == Trisolve::neumann;
  const auto sweep = options_.rows_a_block > 1              ? kernels_.blocks
                     : neumann                              ? kernels_.neumann
                     : options_.form == JacobiForm::compact ? kernels_.compact
                                                            : kernels_.noncompact;
  T* right = scratch.right.data();
  const IterationView<T> whole = view(scaled_ ? right : r, scratch.total.data());
#pragma omp parallel num_threads(team_) if (team_ > 1)
  {
    IterationView<T> v = whole;
#pragma omp for schedule(static, 1)
    for (int part = 0; part < team_; ++part) {
      const auto [begin, end] = share(v.rows * b, part, team_, b);
      for (std::int64_t i = begin; scaled_ && i < end; ++i) right[i] = static_cast<T>(r[i] / scaling_.row[i]);
    }
    // The first sweep of block Jacobi solves within the blocks, so it starts from zeros.
    const bool blocks = options_.rows_a_block > 1;
    for (int k = blocks ? -1 : 0; k < note_.sweeps; ++k) {
      v.from = scratch.iterates[k & 1].data();
      v.to = scratch.iterates[1 - (k & 1)].data();
#pragma omp for schedule(static, 1)
      for (int part = 0; part < team_; ++part) {
        const auto [begin, end] = share(v.rows, part, team_, v.rows_a_block);
        T* row = scratch.rows.data() + std::int64_t{2} * part * b;
        if (k < 0) {
          std::fill(v.to + begin * b, v.to + end * b, T(0));
        } else if (k == 0 && !blocks) {
          kernels_.first(v, begin, end, row);
        } else {
          sweep(v, begin, end, row);
        }
      }
    }
  }
  return neumann ? scratch.total.data() : scratch.iterates[note_.sweeps & 1].data();
}

template <class T>
void IteratedTriangle<T>::finish(const T* iterate, T* x) const {
  const std::int64_t n = triangle_.rows() * triangle_.block;
#pragma omp parallel for num_threads(team_) if (team_ > 1)
  for (std::int64_t i = 0; i < n; ++i) x[i] = scaled_ ? static_cast<T>(iterate[i] / scaling_.column[i]) : iterate[i];
}

template class IteratedTriangle<double>;
template class IteratedTriangle<float>;

}  // namespace echelon
