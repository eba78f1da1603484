// SPDX-License-Identifier: BSD-3-Clause
// ILUT(lfil, drop) of a block CSR matrix in a given order, with ILUTP's column pivoting if asked for: the numeric work of
// attempt after attempt, and the triangles that come out of it. Y. Saad, ILUT: a dual threshold incomplete LU
// factorization, 1994; the rules are in ilut_row.inl. Which rows a row needs is known only when it is computed: threads take
// the rows that row_deal gives them and wait for single rows, so that the results are the same bits for every number of
// them. Pivoting goes on one thread: an exchange of columns concerns every later row.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "echelon/factor/ilut/ilut_view.hpp"
#include "echelon/factor/ilut/thread_parts.hpp"
#include "echelon/factor/rows/triangles.hpp"

namespace echelon {

struct IlutRules {
  std::int64_t lfil = 0;
  double drop = 0;
  double pivoting = 0;
  std::int64_t most_operations = 0;  // 0: as many as it takes; otherwise TooCostly
};

/// Of one attempt.
struct IlutOutcome {
  std::int64_t limited_rows = 0;  // rows in which lfil, not drop, decided
  std::int64_t column_swaps = 0;
  std::int64_t operations = 0;                                     // factor/work_budget.hpp
  double norm = 0, change = 0;                                     // ‖A‖∞, and the largest change of a diagonal entry
  double inverse_bound = std::numeric_limits<double>::infinity();  // on ‖(LU)⁻¹‖∞
};

template <class T>
class IlutFactorization {
 public:
  /// `order` and its inverse `position` may be empty for natural order. All must outlive the object.
  IlutFactorization(const BlockCsr<T>& A, std::span<const std::int32_t> order, std::span<const std::int32_t> position,
                    const IlutRules& rules, int team);

  IlutOutcome attempt(const PivotRules& rules);
  /// The last attempt's factors.
  void write(Triangles<T>& to) const;
  /// Position → user's block column, of the last attempt; empty without pivoting.
  std::span<const std::int32_t> column_order() const { return column_at_.span(); }
  /// Which kernel has the rows, for reports.
  std::string kernel() const { return ilut_kernel_name(A_.block(), rules_.pivoting > 0); }

 private:
  void make_workspaces();
  class Pieces;
  void run(const IlutView<T>& view);
  std::int64_t widest() const;
  template <class Distance>
  void write_rows(Triangles<T>& to, Array<Distance>& below, Array<Distance>& above) const;
  UpperRow<T> upper(std::int64_t i) const {
    return {upper_[static_cast<std::size_t>(i)].load(std::memory_order_relaxed), std::int64_t{A_.block()} * A_.block()};
  }
  /// Where a stored column of U stands now.
  std::int64_t final_column(std::int32_t stored) const { return column_at_.empty() ? stored : position_[stored]; }

  const BlockCsr<T>& A_;
  std::span<const std::int32_t> order_, given_position_;
  IlutRules rules_;
  RowDeal deal_;
  IlutRange<T> rows_;
  Array<std::int32_t> position_, column_at_;  // pivoting
  std::vector<FinishedRow<T>> finished_;
  std::vector<RowPointer> upper_;
  std::vector<std::unique_ptr<IlutWorkspace<T>>> workspaces_;
  Array<T> dense_, small_;
  Array<std::int32_t> slots_;
  Array<int> swaps_;
};

}  // namespace echelon
