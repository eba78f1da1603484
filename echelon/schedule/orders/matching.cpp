// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/orders/matching.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/work_watch.hpp"

namespace echelon {
namespace {

constexpr std::int32_t none = -1;

/// One run of the algorithm; every phase finds a maximal set of shortest augmenting paths.
class HopcroftKarp {
 public:
  explicit HopcroftKarp(const BlockCsr<double>& A)
      : start_(A.row_start()),
        column_(A.column()),
        value_(A.values()),
        rows_(A.rows()),
        column_of_row_(static_cast<std::size_t>(rows_), none),
        row_of_column_(static_cast<std::size_t>(A.columns()), none),
        layer_(static_cast<std::size_t>(rows_)),
        next_(static_cast<std::size_t>(rows_)) {}

  void run() {
    match_greedily();
    while (find_layers()) {
      for (std::int32_t row = 0; row < rows_; ++row) next_[row] = start_[row];
      for (std::int32_t row = 0; row < rows_; ++row) {
        if (column_of_row_[row] == none) augment(row);
      }
    }
  }

  Matching take() {
    Matching result;
    for (std::int64_t row = 0; row < rows_; ++row) {
      if (column_of_row_[row] == none) result.unmatched_rows.push_back(row);
    }
    for (std::size_t c = 0; c < row_of_column_.size(); ++c) {
      if (row_of_column_[c] == none) result.unmatched_columns.push_back(static_cast<std::int64_t>(c));
    }
    result.rank = rows_ - static_cast<std::int64_t>(result.unmatched_rows.size());
    result.column_of_row = std::move(column_of_row_);
    return result;
  }

 private:
  bool is_edge(std::int64_t entry) const { return value_[entry] != 0; }

  void join(std::int32_t row, std::int32_t column) {
    column_of_row_[row] = column;
    row_of_column_[column] = row;
  }

  void match_greedily() {
    for (std::int32_t row = 0; row < rows_; ++row) {
      for (auto e = start_[row]; e < start_[row + 1]; ++e) {
        if (column_[e] == row && is_edge(e)) join(row, row);
      }
    }
    for (std::int32_t row = 0; row < rows_; ++row) {
      for (auto e = start_[row]; e < start_[row + 1] && column_of_row_[row] == none; ++e) {
        if (is_edge(e) && row_of_column_[column_[e]] == none) join(row, column_[e]);
      }
    }
  }

  /// Breadth first from the free rows; true when a free column can be reached.
  bool find_layers() {
    queue_.clear();
    for (std::int32_t row = 0; row < rows_; ++row) {
      layer_[row] = column_of_row_[row] == none ? 0 : none;
      if (layer_[row] == 0) queue_.push_back(row);
    }
    bool reached = false;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const auto row = queue_[at];
      keep_going(start_[row + 1] - start_[row] + 1);
      for (auto e = start_[row]; e < start_[row + 1]; ++e) {
        if (!is_edge(e)) continue;
        const auto other = row_of_column_[column_[e]];
        if (other == none) {
          reached = true;
        } else if (layer_[other] == none) {
          layer_[other] = layer_[row] + 1;
          queue_.push_back(other);
        }
      }
    }
    return reached;
  }

  /// Depth first along the layers, with its own stack: paths can be as long as the matrix.
  void augment(std::int32_t root) {
    path_.assign(1, root);
    while (!path_.empty()) {
      const auto row = path_.back();
      if (next_[row] == start_[row + 1]) {
        layer_[row] = none;
        path_.pop_back();
        continue;
      }
      const auto e = next_[row]++;
      keep_going(1);
      if (!is_edge(e)) continue;
      const auto other = row_of_column_[column_[e]];
      if (other == none) {
        // Each row of the path takes the entry it stopped at.
        for (const auto member : path_) join(member, column_[next_[member] - 1]);
        return;
      }
      if (layer_[other] == layer_[row] + 1) path_.push_back(other);
    }
  }

  std::span<const std::int64_t> start_;
  std::span<const std::int32_t> column_;
  std::span<const double> value_;
  std::int64_t rows_;
  std::vector<std::int32_t> column_of_row_, row_of_column_, layer_, queue_, path_;
  std::vector<std::int64_t> next_;
};

}  // namespace

Matching maximum_matching(const BlockCsr<double>& A) {
  if (A.block() != 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("matching needs block size 1, got {}", A.block()));
  }
  // Two partners, layers, places and paths, which grow by doubling, and the lists of what is left over.
  require_memory(48 * A.rows() + 16 * A.columns(), fmt::format("the matching of {} rows with columns", A.rows()));
  HopcroftKarp run(A);
  run.run();
  return run.take();
}

}  // namespace echelon
