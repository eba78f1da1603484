// SPDX-License-Identifier: BSD-3-Clause
// Rows are taken part by part; what a part gives is put together in the order of the parts.
#include "echelon/factor/fixed_point/threshold_rounds.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/factor/fixed_point/kth_largest.hpp"
#include "echelon/factor/fixed_point/threshold_row.hpp"

namespace echelon {
namespace {

constexpr std::int64_t rows_of_a_part = 1024;

template <class T>
class Rounds {
 public:
  Rounds(const BlockCsrView<T>& A, const PivotRules& rules, const std::int32_t* user_row, const ThresholdLimits& limits)
      : A_(A),
        rules_(rules),
        user_row_(user_row),
        limits_(limits),
        n_(A.block_rows),
        parts_((n_ + rows_of_a_part - 1) / rows_of_a_part) {
    team_ = parts_ > 1 ? threads() : 1;
    dense_ = Array<T>(team_ * n_);
    mark_ = Array<std::int32_t>(team_ * n_);
    column_ = Array<std::int32_t>(team_ * n_);
    work_.resize(static_cast<std::size_t>(team_));
    for (int t = 0; t < team_; ++t) {
      work_[static_cast<std::size_t>(t)].dense = dense_.data() + t * n_;
      work_[static_cast<std::size_t>(t)].mark = mark_.data() + t * n_;
      work_[static_cast<std::size_t>(t)].column = column_.data() + t * n_;
    }
    unit_ = fixed_point_unit(A);
  }

  ThresholdOutcome run(SweptRows<T>& S) {
    const double norm = start(S);
    const auto relative = [&](double size) { return norm > 0 ? size / norm : size; };
    ThresholdOutcome outcome;
    for (int round = 0; round < limits_.rounds; ++round) {
      double change = 0;
      SweptRows<T> grown = sweep(S, true, &passing_, change);
      if (round == 0) outcome.start_residual = relative(change);
      S = selected(grown, outcome);
      S = sweep(S, false, round + 1 == limits_.rounds ? rules_.log : &passing_, change);
    }
    for (const auto& work : work_) {
      outcome.norm = std::max(outcome.norm, work.norm);
      outcome.change = std::max(outcome.change, work.change);
    }
    double change = 0;
    (void)sweep(S, false, &passing_, change);
    outcome.residual = relative(change);
    return outcome;
  }

 private:
  /// It is met, sorted, compared and kept.
  static constexpr std::int64_t operations_an_entry = 8;
  /// Rows of a part on their way.
  struct Part {
    std::vector<std::int32_t> column;
    std::vector<T> value;
    double sum = 0;
  };

  /// body(part, thread, shared), which says what it did and ends when it is told to.
  template <class Body>
  void for_parts(const Body& body) const {
    SharedWork shared;
    std::exception_ptr failed;
#pragma omp parallel for num_threads(team_) if (team_ > 1) schedule(dynamic, 1)
    for (std::int64_t part = 0; part < parts_; ++part) {
      try {
        if (shared.goes_on(rows_of_a_part)) body(part, omp_get_thread_num(), shared);
      } catch (...) {  // parts grow as they are filled, and memory may end; no exception may leave the region
#pragma omp critical(echelon_rounds_failed)
        failed = std::current_exception();
      }
    }
    if (failed) std::rethrow_exception(failed);
    shared.finish();
  }
  template <class Body>
  void for_rows(std::int64_t part, const Body& body) const {
    for (std::int64_t i = part * rows_of_a_part; i < std::min(n_, (part + 1) * rows_of_a_part); ++i) body(i);
  }

  PivotPlace place(std::int64_t i) const { return {i, user_row_ ? user_row_[i] : i}; }

  /// max_j |a_ij|; notes a row that is not finite.
  T row_scale(std::int64_t i, const PivotRules& rules, ThresholdWorkspace<T>& work) const {
    T scale = 0;
    double sum = 0;
    for (auto p = A_.row_start[i]; p < A_.row_start[i + 1]; ++p) {
      const T size = magnitude(A_.values[p]);
      scale = size > scale ? size : scale;
      sum += size;
    }
    note_row_sum(rules, place(i), sum, work, [&] {
      return std::any_of(A_.values + A_.row_start[i], A_.values + A_.row_start[i + 1],
                         [](T a) { return !(magnitude(a) <= std::numeric_limits<T>::max()); });
    });
    return scale;
  }

  SweptRows<T> empty() const {
    SweptRows<T> to;
    to.start = Array<std::int64_t>(n_ + 1);
    to.diagonal = Array<std::int64_t>(n_);
    to.inverse_diagonal = Array<T>(n_);
    to.start[0] = 0;
    return to;
  }

  /// `to.start[i + 1]` holds the length of row i; the parts hold the rest.
  void gather(std::vector<Part>& parts, SweptRows<T>& to) const {
    for (std::int64_t i = 0; i < n_; ++i) to.start[i + 1] += to.start[i];
    to.column = Array<std::int32_t>(to.start[n_]);
    to.value = Array<T>(to.start[n_]);
    for_parts([&](std::int64_t part, int, SharedWork& shared) {
      auto& from = parts[static_cast<std::size_t>(part)];
      if (!shared.goes_on(static_cast<std::int64_t>(from.column.size()))) return;
      const auto at = to.start[part * rows_of_a_part];
      std::copy(from.column.begin(), from.column.end(), to.column.data() + at);
      std::copy(from.value.begin(), from.value.end(), to.value.data() + at);
      from = Part();
      for_rows(part, [&](std::int64_t i) {
        const auto* row = to.column.data();
        to.diagonal[i] = std::lower_bound(row + to.start[i], row + to.start[i + 1], static_cast<std::int32_t>(i)) - row;
      });
    });
  }

  /// S ← A with its whole diagonal, shifted; gives ‖A‖_F.
  double start(SweptRows<T>& S) {
    mark_.fill(0);
    SweptRows<T> nothing = empty();
    nothing.start.fill(0);
    nothing.diagonal.fill(0);
    double sum = 0;
    S = pass(nothing, true, &passing_, sum);
    return sum;
  }

  SweptRows<T> sweep(const SweptRows<T>& S, bool grow, PivotLog* log, double& change) {
    mark_.fill(0);
    SweptRows<T> to = pass(S, grow, log, change);
    if (limits_.symmetric) mirror(to);
    return to;
  }

  /// One sweep over all rows; `size` gets ‖new − old‖_F.
  SweptRows<T> pass(const SweptRows<T>& S, bool grow, PivotLog* log, double& size) {
    for (auto& work : work_) work.norm = work.change = 0;
    if (log == &passing_) passing_.reset();
    PivotRules rules = rules_;
    rules.log = log;
    const ThresholdView<T> view{
        A_, S.start.data(), S.column.data(), S.value.data(), S.diagonal.data(), S.inverse_diagonal.data(), grow};
    const auto evaluate = threshold_row<T>();
    SweptRows<T> to = empty();
    std::vector<Part> parts(static_cast<std::size_t>(parts_));
    for_parts([&](std::int64_t number, int thread, SharedWork& shared) {
      auto& part = parts[static_cast<std::size_t>(number)];
      auto& work = work_[static_cast<std::size_t>(thread)];
      const std::int64_t mean = n_ > 0 ? S.start[n_] / n_ + 1 : 1;
      std::int64_t made = 0;  // of the row before, when it grew far beyond the mean: one full row fills all the others
      for_rows(number, [&](std::int64_t i) {
        if (!shared.goes_on((S.start[i + 1] - S.start[i]) * mean + made * operations_an_entry)) return;
        const T scale = row_scale(i, rules, work);
        auto count = evaluate(view, i, work);
        made = count;
        const auto row = static_cast<std::int32_t>(i);
        if (work.mark[i] != row + 1) {
          work.mark[i] = row + 1;
          work.dense[i] = 0;
          work.column[count++] = row;
        }
        if (grow) std::sort(work.column, work.column + count);
        if (rules.shift > 0) work.dense[i] = shifted(rules, work.dense[i], scale, work);
        const T met = work.dense[i];
        T pivot = met;
        if (!pivot_is_good(rules, pivot, scale)) pivot = repaired_pivot(rules, place(i), pivot, scale, work);
        work.dense[i] = pivot;
        to.inverse_diagonal[i] = T(1) / pivot;
        to.start[i + 1] = count;
        auto old = S.start[i];
        double sum = 0;
        for (std::int64_t c = 0; c < count; ++c) {
          const auto j = work.column[c];
          const T s = work.dense[j];
          while (old < S.start[i + 1] && S.column[old] < j) ++old;
          const bool had = old < S.start[i + 1] && S.column[old] == j;
          const T next = j == row ? met : s;
          const double change = static_cast<double>(had ? next - S.value[old] : next) * unit_;
          // On a growing pattern only A's places count: what LU has elsewhere is not on the pattern.
          if (had || S.start[n_] == 0) sum += change * change;
          part.column.push_back(j);
          part.value.push_back(s);
        }
        part.sum += sum;
      });
    });
    double sum = 0;
    for (const auto& part : parts) sum += part.sum;
    size = std::sqrt(sum);
    gather(parts, to);
    return to;
  }

  /// s_ij ← s_ji below the diagonal.
  void mirror(SweptRows<T>& S) const {
    for_parts([&](std::int64_t part, int, SharedWork& shared) {
      for_rows(part, [&](std::int64_t i) {
        if (!shared.goes_on((S.diagonal[i] - S.start[i]) * operations_an_entry)) return;
        for (auto p = S.start[i]; p < S.diagonal[i]; ++p) {
          const auto j = S.column[p];
          const auto* row = S.column.data();
          const auto* found = std::lower_bound(row + S.diagonal[j], row + S.start[j + 1], static_cast<std::int32_t>(i));
          S.value[p] = S.value[found - row];
        }
      });
    });
  }

  /// The largest of each triangle, and the diagonal.
  SweptRows<T> selected(const SweptRows<T>& S, ThresholdOutcome& outcome) const {
    Array<T> root(n_);
    for (std::int64_t i = 0; i < n_; ++i) root[i] = std::sqrt(magnitude(S.inverse_diagonal[i]));
    const auto weight = [&](std::int64_t i, std::int64_t p) {
      const std::int64_t j = S.column[p];
      return static_cast<double>(magnitude(S.value[p])) * static_cast<double>(root[std::min(i, j)]);
    };
    const auto threshold = [&](bool lower, std::int64_t limit) {
      return selection_threshold(parts_, limit, [&](std::int64_t part, auto&& visit) {
        for_rows(part, [&](std::int64_t i) {
          const auto end = lower ? S.diagonal[i] : S.start[i + 1];
          for (auto p = lower ? S.start[i] : S.diagonal[i] + 1; p < end; ++p) visit(weight(i, p));
        });
      });
    };
    outcome.upper_threshold = threshold(false, limits_.upper);
    outcome.lower_threshold = limits_.symmetric ? outcome.upper_threshold : threshold(true, limits_.lower);
    SweptRows<T> to = empty();
    std::vector<Part> parts(static_cast<std::size_t>(parts_));
    for_parts([&](std::int64_t number, int, SharedWork& shared) {
      auto& part = parts[static_cast<std::size_t>(number)];
      for_rows(number, [&](std::int64_t i) {
        if (!shared.goes_on(S.start[i + 1] - S.start[i])) return;
        std::int64_t count = 0;
        for (auto p = S.start[i]; p < S.start[i + 1]; ++p) {
          const auto least = p < S.diagonal[i] ? outcome.lower_threshold : outcome.upper_threshold;
          if (p != S.diagonal[i] && weight(i, p) < least) continue;  // NaN stays, and is found
          part.column.push_back(S.column[p]);
          part.value.push_back(S.value[p]);
          ++count;
        }
        to.start[i + 1] = count;
        to.inverse_diagonal[i] = S.inverse_diagonal[i];
      });
    });
    gather(parts, to);
    return to;
  }

  const BlockCsrView<T> A_;
  const PivotRules rules_;
  const std::int32_t* user_row_;
  const ThresholdLimits limits_;
  const std::int64_t n_, parts_;
  int team_ = 1;
  double unit_ = 1;
  Array<T> dense_;
  Array<std::int32_t> mark_, column_;
  std::vector<ThresholdWorkspace<T>> work_;
  PivotLog passing_;
};

}  // namespace

template <class T>
ThresholdOutcome threshold_rounds(const BlockCsrView<T>& A, const PivotRules& rules, const std::int32_t* user_row,
                                  const ThresholdLimits& limits, SweptRows<T>& S) {
  return Rounds<T>(A, rules, user_row, limits).run(S);
}

template ThresholdOutcome threshold_rounds(const BlockCsrView<double>&, const PivotRules&, const std::int32_t*,
                                           const ThresholdLimits&, SweptRows<double>&);
template ThresholdOutcome threshold_rounds(const BlockCsrView<float>&, const PivotRules&, const std::int32_t*,
                                           const ThresholdLimits&, SweptRows<float>&);

}  // namespace echelon
