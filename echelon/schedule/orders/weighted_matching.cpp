// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/orders/weighted_matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/work_watch.hpp"

namespace echelon {
namespace {

constexpr std::int32_t none = -1;
constexpr double infinity = std::numeric_limits<double>::infinity();

class Assignment {
 public:
  explicit Assignment(const BlockCsr<double>& A)
      : start_(A.row_start()),
        column_(A.column()),
        n_(A.rows()),
        cost_(static_cast<std::size_t>(A.nonzeros())),
        log_largest_(size(), -infinity),
        row_potential_(size(), 0),
        column_potential_(size(), 0),
        distance_(size(), infinity),
        column_of_row_(size(), none),
        row_of_column_(size(), none),
        arrived_from_(size(), none),
        settled_(size(), 0) {
    for (std::int64_t e = 0; e < A.nonzeros(); ++e) {
      const double value = std::abs(A.values()[e]);
      cost_[e] = value > 0 && std::isfinite(value) ? std::log(value) : -infinity;
      log_largest_[column_[e]] = std::max(log_largest_[column_[e]], cost_[e]);
    }
    for (std::int64_t e = 0; e < A.nonzeros(); ++e) {
      cost_[e] = cost_[e] == -infinity ? infinity : log_largest_[column_[e]] - cost_[e];
    }
  }

  bool run() {
    match_free_edges();
    for (std::int32_t row = 0; row < n_; ++row) {
      if (column_of_row_[row] == none && !augment(row)) return false;
    }
    return true;
  }

  WeightedMatching take() {
    WeightedMatching result;
    result.row_scale.resize(size());
    result.column_scale.resize(size());
    for (std::int64_t i = 0; i < n_; ++i) {
      result.row_scale[i] = power_of_two(row_potential_[i]);
      result.column_scale[i] = power_of_two(column_potential_[i] - log_largest_[i]);
    }
    result.row_of_column = std::move(row_of_column_);
    return result;
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(n_); }

  static double power_of_two(double logarithm) {
    return std::ldexp(1.0, static_cast<int>(std::lround(std::clamp(logarithm / std::log(2.0), -1000.0, 1000.0))));
  }

  void join(std::int32_t row, std::int32_t column) {
    column_of_row_[row] = column;
    row_of_column_[column] = row;
  }

  /// Row potentials at their bound, and a first matching along edges of reduced cost zero.
  void match_free_edges() {
    for (std::int32_t row = 0; row < n_; ++row) {
      double smallest = infinity;
      for (auto e = start_[row]; e < start_[row + 1]; ++e) smallest = std::min(smallest, cost_[e]);
      row_potential_[row] = smallest == infinity ? 0 : smallest;
      for (auto e = start_[row]; e < start_[row + 1] && column_of_row_[row] == none; ++e) {
        if (cost_[e] == smallest && cost_[e] < infinity && row_of_column_[column_[e]] == none) join(row, column_[e]);
      }
    }
  }

  void relax(std::int32_t row, double distance) {
    keep_going(8 * (start_[row + 1] - start_[row] + 1));  // some land in the queue
    for (auto e = start_[row]; e < start_[row + 1]; ++e) {
      const auto j = column_[e];
      if (settled_[j] || cost_[e] == infinity) continue;
      const double through = distance + std::max(cost_[e] - row_potential_[row] - column_potential_[j], 0.0);
      if (through >= distance_[j]) continue;
      if (distance_[j] == infinity) touched_.push_back(j);
      distance_[j] = through;
      arrived_from_[j] = row;
      queue_.emplace(through, j);
    }
  }

  /// Shortest alternating path (Dijkstra) from a free row to a free column, then the potentials follow.
  bool augment(std::int32_t root) {
    queue_ = {};
    touched_.clear();
    relax(root, 0);
    std::int32_t end = none;
    while (!queue_.empty()) {
      const auto [distance, j] = queue_.top();
      queue_.pop();
      if (settled_[j] || distance > distance_[j]) continue;
      settled_[j] = 1;
      if (row_of_column_[j] == none) {
        end = j;
        break;
      }
      relax(row_of_column_[j], distance);
    }
    if (end != none) {
      const double length = distance_[end];
      for (const auto j : touched_) {
        if (!settled_[j] || j == end) continue;
        column_potential_[j] += distance_[j] - length;
        row_potential_[row_of_column_[j]] += length - distance_[j];
      }
      row_potential_[root] += length;
      for (auto j = end; j != none;) {
        const auto row = arrived_from_[j];
        const auto next = column_of_row_[row];
        join(row, j);
        j = row == root ? none : next;
      }
    }
    for (const auto j : touched_) {
      distance_[j] = infinity;
      settled_[j] = 0;
    }
    return end != none;
  }

  using Entry = std::pair<double, std::int32_t>;
  std::span<const std::int64_t> start_;
  std::span<const std::int32_t> column_;
  std::int64_t n_;
  std::vector<double> cost_, log_largest_, row_potential_, column_potential_, distance_;
  std::vector<std::int32_t> column_of_row_, row_of_column_, arrived_from_, touched_;
  std::vector<char> settled_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace

std::optional<WeightedMatching> maximum_product_matching(const BlockCsr<double>& A) {
  if (A.block() != 1 || !A.square()) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("weighted matching needs a square matrix of block size 1, got {} x {}, block {}", A.rows(),
                            A.columns(), A.block()));
  }
  // A cost an entry, and of a row and column: potentials, distances, partners, scales; the queue holds up to every entry.
  require_memory(24 * A.nonzeros() + 96 * A.rows(), fmt::format("the weighted matching of {} rows", A.rows()));
  Assignment assignment(A);
  if (!assignment.run()) return std::nullopt;
  return assignment.take();
}

}  // namespace echelon
