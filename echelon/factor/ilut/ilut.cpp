// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/ilut/ilut.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <numeric>

#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/factor/work_budget.hpp"
#include "echelon/schedule/spin_wait.hpp"

namespace echelon {
namespace {

/// Columns moved after the row was stored: by insertion, since few did.
template <class Distance, class T>
void sort_moved(Distance* distance, T* values, std::int64_t count) {
  for (std::int64_t q = 1; q < count; ++q) {
    const auto moved = distance[q];
    const T value = values[q];
    auto at = q;
    for (; at > 0 && distance[at - 1] > moved; --at) {
      distance[at] = distance[at - 1];
      values[at] = values[at - 1];
    }
    distance[at] = moved;
    values[at] = value;
  }
}

}  // namespace

std::byte* wait_for_row(const RowPointer& row, const std::atomic<bool>& abandoned) {
  for (int spins = 0;; ++spins) {
    if (std::byte* there = row.load(std::memory_order_acquire)) return there;
    if (abandoned.load(std::memory_order_relaxed)) return nullptr;
    wait_a_moment(spins);
  }
}

template <class T>
IlutFactorization<T>::IlutFactorization(const BlockCsr<T>& A, std::span<const std::int32_t> order,
                                        std::span<const std::int32_t> position, const IlutRules& rules, int team)
    : A_(A),
      order_(order),
      given_position_(position),
      rules_(rules),
      deal_(deal_rows({A.block_rows(), A.row_start().data(), A.column().data()}, order, position,
                      rules.pivoting > 0 ? 1 : team)),
      rows_(ilut_kernel<T>(A.block(), rules.pivoting > 0)),
      finished_(static_cast<std::size_t>(A.block_rows())),
      upper_(static_cast<std::size_t>(A.block_rows())) {
  if (rules.pivoting > 0) {
    position_ = Array<std::int32_t>(A.block_rows());
    column_at_ = Array<std::int32_t>(A.block_rows());
  }
  make_workspaces();
}

template <class T>
void IlutFactorization<T>::make_workspaces() {
  const auto n = A_.block_rows();
  const std::int64_t b = A_.block(), team = deal_.team();
  // Twice A's part, a column and a word beside each block.
  const std::int64_t expected = A_.blocks() * (b * b * static_cast<std::int64_t>(sizeof(T)) + 8);
  constexpr std::int64_t apart = 16;  // the scalar that nobody reads, and a cache line between threads
  if (b == 1) {
    dense_ = Array<T>(team * (n + apart), 0);
  } else {
    slots_ = Array<std::int32_t>(team * n, -1);
    small_ = Array<T>(team * 3 * b * b);
    swaps_ = Array<int>(team * b);
  }
  for (std::int64_t t = 0; t < team; ++t) {
    workspaces_.push_back(std::make_unique<IlutWorkspace<T>>(n, expected / team));
    auto& work = *workspaces_.back();
    if (b == 1) {
      work.values = Array<T>(n);
      work.dense = dense_.data() + t * (n + apart);
    } else {
      work.slot = slots_.data() + t * n;
      work.small = small_.data() + t * 3 * b * b;
      work.swaps = swaps_.data() + t * b;
    }
  }
}

template <class T>
IlutOutcome IlutFactorization<T>::attempt(const PivotRules& rules) {
  const bool pivoting = rules_.pivoting > 0;
  if (pivoting) {
    if (order_.empty()) {
      std::iota(column_at_.begin(), column_at_.end(), 0);
      std::iota(position_.begin(), position_.end(), 0);
    } else {
      std::ranges::copy(order_, column_at_.begin());
      std::ranges::copy(given_position_, position_.begin());
    }
  }
  for (auto& work : workspaces_) {
    work->lower.restart();
    work->upper.restart();
    work->norm = work->change = 0;
    work->limited_rows = work->swaps_made = work->widest = work->operations = 0;
    work->bounds = {};
  }
  // Without pivoting nobody writes to the positions.
  auto* position =
      pivoting ? position_.data() : const_cast<std::int32_t*>(given_position_.empty() ? nullptr : given_position_.data());
  for (auto& row : upper_) row.store(nullptr, std::memory_order_relaxed);
  run({A_.view(), order_.empty() ? nullptr : order_.data(), position, column_at_.data(), rules_.lfil, rules_.drop,
       rules_.pivoting, finished_.data(), upper_.data(), nullptr, rules});
  IlutOutcome outcome;
  FactorBounds bounds;
  for (const auto& work : workspaces_) {
    bounds.include(work->bounds);
    outcome.limited_rows += work->limited_rows;
    outcome.column_swaps += work->swaps_made;
    outcome.operations += work->operations;
    outcome.norm = std::max(outcome.norm, work->norm);
    outcome.change = std::max(outcome.change, work->change);
  }
  if (A_.block() == 1) outcome.inverse_bound = bounds.of_inverse();
  return outcome;
}

/// Rows a few at a time, where somebody may want to end it or the work is bounded. What all rows together cost does not
/// depend on threads: whether it is too much neither.
template <class T>
class IlutFactorization<T>::Pieces {
 public:
  Pieces(IlutRange<T> rows, std::int64_t most_operations) : rows_(rows), most_operations_(most_operations) {}

  /// False: the rows were abandoned, here or by another thread.
  bool run(const IlutView<T>& view, std::int64_t begin, std::int64_t end, IlutWorkspace<T>& work) {
    if (!shared_.watched() && most_operations_ == 0) return rows_(view, begin, end, work);
    constexpr std::int64_t rows_at_once = 8, overhead_a_row = 100;
    for (; begin < end; begin += rows_at_once) {
      const auto next = std::min(begin + rows_at_once, end);
      const std::int64_t before = work.operations;
      if (!rows_(view, begin, next, work)) return false;
      const std::int64_t done = work.operations - before;
      if (most_operations_ > 0 && spent_.fetch_add(done, std::memory_order_relaxed) + done > most_operations_) return false;
      if (!shared_.goes_on(done + overhead_a_row * (next - begin))) return false;
    }
    return true;
  }

  void finish() const {
    shared_.finish();
    if (most_operations_ > 0 && spent_.load(std::memory_order_relaxed) > most_operations_) {
      throw TooCostly("ILUT", most_operations_);
    }
  }

 private:
  IlutRange<T> rows_;
  std::int64_t most_operations_;
  SharedWork shared_;
  std::atomic<std::int64_t> spent_{0};
};

template <class T>
void IlutFactorization<T>::run(const IlutView<T>& view) {
  Pieces pieces(rows_, rules_.most_operations);
  if (deal_.team() == 1) {
    pieces.run(view, 0, A_.block_rows(), *workspaces_.front());
    return pieces.finish();
  }
  std::atomic<bool> abandoned{false};
  IlutView<T> shared = view;
  shared.abandoned = &abandoned;
  std::exception_ptr failed;
#pragma omp parallel num_threads(std::max(deal_.team(), threads()))
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    try {
      if (omp_get_num_threads() < deal_.team()) {
        if (thread == 0) pieces.run(view, 0, A_.block_rows(), *workspaces_.front());  // fewer came (nested regions, limits)
      } else if (thread < deal_.parts.size()) {
        for (const auto& part : deal_.parts[thread]) {
          if (pieces.run(shared, part.begin, part.end, *workspaces_[thread])) continue;
          abandoned.store(true, std::memory_order_relaxed);
          break;
        }
      }
    } catch (...) {
#pragma omp critical(echelon_ilut_failed)
      failed = std::current_exception();
      abandoned.store(true, std::memory_order_relaxed);
    }
  }
  if (failed) std::rethrow_exception(failed);
  pieces.finish();
}

/// The largest |row − column| of both triangles.
template <class T>
std::int64_t IlutFactorization<T>::widest() const {
  std::int64_t largest = 0;
  for (const auto& work : workspaces_) largest = std::max(largest, work->widest);
  if (column_at_.empty()) return largest;
  for (std::int64_t i = 0; i < A_.block_rows(); ++i) {
    const auto U = upper(i);
    keep_going(U.count());
    for (std::int64_t q = 0; q < U.count(); ++q) largest = std::max(largest, final_column(U.column[q]) - i);
  }
  return largest;
}

template <class T>
void IlutFactorization<T>::write(Triangles<T>& to) const {
  const auto n = A_.block_rows();
  const auto bb = std::int64_t{A_.block()} * A_.block();
  to.rows = to.lower.rows = to.upper.rows = n;
  to.block = A_.block();
  to.lower.start = Array<std::int64_t>(n + 1);
  to.upper.start = Array<std::int64_t>(n + 1);
  to.lower.start[0] = to.upper.start[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    to.lower.start[i + 1] = to.lower.start[i] + finished_[static_cast<std::size_t>(i)].lower_count;
    to.upper.start[i + 1] = to.upper.start[i] + finished_[static_cast<std::size_t>(n - 1 - i)].upper_count;
  }
  to.lower_values = Array<T>(to.lower.entries() * bb);
  to.upper_values = Array<T>(to.upper.entries() * bb);
  to.inverse_diagonal = Array<T>(n * bb);
  for (auto* triangle : {&to.lower, &to.upper}) {
    triangle->distance = Array<std::int32_t>();
    triangle->distance_16 = Array<std::uint16_t>();
  }
  to.lower.narrow = to.upper.narrow = bb == 1 && widest() <= std::numeric_limits<std::uint16_t>::max();
  if (to.lower.narrow) {
    write_rows(to, to.lower.distance_16, to.upper.distance_16);
  } else {
    write_rows(to, to.lower.distance, to.upper.distance);
  }
}

template <class T>
template <class Distance>
void IlutFactorization<T>::write_rows(Triangles<T>& to, Array<Distance>& below, Array<Distance>& above) const {
  const auto n = A_.block_rows();
  const auto bb = std::int64_t{A_.block()} * A_.block();
  below = Array<Distance>(to.lower.entries());
  above = Array<Distance>(to.upper.entries());
  const int team = threads_for((to.lower.entries() + to.upper.entries()) / 8);  // copies are cheap
  SharedWork shared;
#pragma omp parallel for num_threads(team) if (team > 1)
  for (std::int64_t i = 0; i < n; ++i) {
    const auto& L = finished_[static_cast<std::size_t>(i)];
    if (!shared.goes_on(L.lower_count + L.upper_count)) continue;
    const auto U = upper(i);
    const auto* columns = L.lower_columns(bb);
    auto* down = below.data() + to.lower.start[i];
    auto* up = above.data() + to.upper.start[n - 1 - i];
    T* down_values = to.lower_values.data() + to.lower.start[i] * bb;
    T* up_values = to.upper_values.data() + to.upper.start[n - 1 - i] * bb;
    for (std::int64_t p = 0; p < L.lower_count; ++p) down[p] = static_cast<Distance>(i - columns[p]);
    for (std::int64_t q = 0; q < L.upper_count; ++q) up[q] = static_cast<Distance>(final_column(U.column[q]) - i);
    std::copy_n(L.lower_values, L.lower_count * bb, down_values);
    std::copy_n(U.values, L.upper_count * bb, up_values);
    std::copy_n(U.inverse, bb, to.inverse_diagonal.data() + i * bb);
    if (!column_at_.empty()) sort_moved(up, up_values, L.upper_count);
  }
  shared.finish();
}

template class IlutFactorization<double>;
template class IlutFactorization<float>;

}  // namespace echelon
