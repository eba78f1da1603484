// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/ilut.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <numeric>
#include <thread>

#include "echelon/base/threads.hpp"

namespace echelon {

bool RowsDone::wait_for(std::int64_t row) const {
  constexpr int spins_before_yield = 2000;
  const auto& flag = flags[static_cast<std::size_t>(row)];
  for (int spins = 0; flag.load(std::memory_order_acquire) == 0; ++spins) {
    if (abandoned.load(std::memory_order_relaxed)) return false;
    if (spins >= spins_before_yield) std::this_thread::yield();
  }
  return true;
}

template <class T>
IlutFactorization<T>::IlutFactorization(const BlockCsr<T>& A, std::span<const std::int32_t> order,
                                        std::span<const std::int32_t> position, const IlutRules& rules, int team)
    : A_(A),
      order_(order),
      given_position_(position),
      rules_(rules),
      team_(rules.pivoting > 0 ? 1 : team),
      rows_(ilut_kernel<T>(A.block(), rules.pivoting > 0)),
      lower_(static_cast<std::size_t>(A.block_rows())),
      upper_(static_cast<std::size_t>(A.block_rows())),
      inverse_diagonal_(A.block_rows() * A.block() * A.block()) {
  if (rules.pivoting > 0) {
    position_ = Array<std::int32_t>(A.block_rows());
    column_at_ = Array<std::int32_t>(A.block_rows());
  }
  cut_runs();
  make_workspaces();
}

/// A run ends before a row that does not need the one before it (on a grid: a line), so that the next can start beside it.
template <class T>
void IlutFactorization<T>::cut_runs() {
  constexpr std::int64_t shortest = 16, rows_worth_threads = 2'000;
  const auto n = A_.block_rows();
  run_start_ = {0};
  if (n < rows_worth_threads) team_ = 1;
  if (team_ > 1) {
    for (std::int64_t i = 1; i < n; ++i) {
      if (i - run_start_.back() < shortest) continue;
      const auto row = order_.empty() ? i : order_[static_cast<std::size_t>(i)];
      const auto before = order_.empty() ? static_cast<std::int32_t>(i - 1) : order_[static_cast<std::size_t>(i - 1)];
      const auto* columns = A_.column().data();
      if (!std::binary_search(columns + A_.row_start()[row], columns + A_.row_start()[row + 1], before)) {
        run_start_.push_back(i);
      }
    }
    team_ = static_cast<int>(std::min<std::int64_t>(team_, static_cast<std::int64_t>(run_start_.size()) / 4));
    team_ = std::max(team_, 1);
  }
  run_start_.push_back(n);
}

template <class T>
void IlutFactorization<T>::make_workspaces() {
  const auto n = A_.block_rows();
  const std::int64_t b = A_.block();
  if (b == 1) {
    dense_ = Array<T>(team_ * n, 0);
  } else {
    slots_ = Array<std::int32_t>(team_ * n, -1);
    small_ = Array<T>(team_ * 3 * b * b);
    swaps_ = Array<int>(team_ * b);
  }
  for (std::int64_t t = 0; t < team_; ++t) {
    workspaces_.push_back(std::make_unique<IlutWorkspace<T>>(n));
    auto& work = *workspaces_.back();
    if (b == 1) {
      work.values = Array<T>(n);
      work.kept_values = Array<T>(n);
      work.dense = dense_.data() + t * n;
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
    work->store.restart();
    work->norm = work->change = 0;
    work->limited_rows = work->swaps_made = 0;
  }
  // Without pivoting nobody writes to the positions.
  auto* position =
      pivoting ? position_.data() : const_cast<std::int32_t*>(given_position_.empty() ? nullptr : given_position_.data());
  run({A_.view(), order_.empty() ? nullptr : order_.data(), position, column_at_.data(), rules_.lfil, rules_.drop,
       rules_.pivoting, lower_.data(), upper_.data(), inverse_diagonal_.data(), nullptr, rules});
  IlutOutcome outcome;
  for (const auto& work : workspaces_) {
    outcome.limited_rows += work->limited_rows;
    outcome.column_swaps += work->swaps_made;
    outcome.norm = std::max(outcome.norm, work->norm);
    outcome.change = std::max(outcome.change, work->change);
  }
  return outcome;
}

template <class T>
void IlutFactorization<T>::run(const IlutView<T>& view) {
  if (team_ == 1) {
    rows_(view, 0, A_.block_rows(), *workspaces_.front());
    return;
  }
  RowsDone done;
  done.flags = std::vector<std::atomic<std::uint8_t>>(static_cast<std::size_t>(A_.block_rows()));
  IlutView<T> shared = view;
  shared.done = &done;
  std::exception_ptr failed;
  std::atomic<std::size_t> next{0};
  const std::size_t runs = run_start_.size() - 1;
  // Runs are taken in order, so the first unfinished row never waits, and with it all others come.
#pragma omp parallel num_threads(team_)
  {
    auto& work = *workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
    try {
      for (auto r = next.fetch_add(1); r < runs; r = next.fetch_add(1)) {
        if (!rows_(shared, run_start_[r], run_start_[r + 1], work)) break;
      }
    } catch (...) {
#pragma omp critical(echelon_ilut_failed)
      failed = std::current_exception();
      done.abandoned.store(true, std::memory_order_relaxed);
    }
  }
  if (failed) std::rethrow_exception(failed);
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
  std::int64_t widest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto& L = lower_[static_cast<std::size_t>(i)];
    const auto& U = upper_[static_cast<std::size_t>(n - 1 - i)];
    to.lower.start[i + 1] = to.lower.start[i] + L.count;
    to.upper.start[i + 1] = to.upper.start[i] + U.count;
    if (L.count > 0) widest = std::max(widest, i - L.column[0]);
    if (column_at_.empty()) {
      if (U.count > 0) widest = std::max(widest, U.column[U.count - 1] - (n - 1 - i));
    } else {
      for (std::int64_t q = 0; q < U.count; ++q) widest = std::max(widest, final_column(U.column[q]) - (n - 1 - i));
    }
  }
  to.lower_values = Array<T>(to.lower.entries() * bb);
  to.upper_values = Array<T>(to.upper.entries() * bb);
  to.inverse_diagonal = inverse_diagonal_.clone();
  for (auto* triangle : {&to.lower, &to.upper}) {
    triangle->distance = Array<std::int32_t>();
    triangle->distance_16 = Array<std::uint16_t>();
  }
  to.lower.narrow = to.upper.narrow = bb == 1 && widest <= std::numeric_limits<std::uint16_t>::max();
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
  const int team = threads_for(to.lower.entries() + to.upper.entries());
#pragma omp parallel for num_threads(team) if (team > 1)
  for (std::int64_t i = 0; i < n; ++i) {
    const auto& L = lower_[static_cast<std::size_t>(i)];
    const auto& U = upper_[static_cast<std::size_t>(i)];
    auto* down = below.data() + to.lower.start[i];
    auto* up = above.data() + to.upper.start[n - 1 - i];
    auto* up_values = to.upper_values.data() + to.upper.start[n - 1 - i] * bb;
    for (std::int64_t p = 0; p < L.count; ++p) down[p] = static_cast<Distance>(i - L.column[p]);
    std::copy_n(L.values, L.count * bb, to.lower_values.data() + to.lower.start[i] * bb);
    for (std::int64_t q = 0; q < U.count; ++q) up[q] = static_cast<Distance>(final_column(U.column[q]) - i);
    std::copy_n(U.values, U.count * bb, up_values);
    if (column_at_.empty()) continue;
    // Columns moved after the row was stored: by insertion, since few did.
    for (std::int64_t q = 1; q < U.count; ++q) {
      const auto distance = up[q];
      const T value = up_values[q];
      auto at = q;
      for (; at > 0 && up[at - 1] > distance; --at) {
        up[at] = up[at - 1];
        up_values[at] = up_values[at - 1];
      }
      up[at] = distance;
      up_values[at] = value;
    }
  }
}

template class IlutFactorization<double>;
template class IlutFactorization<float>;

}  // namespace echelon
