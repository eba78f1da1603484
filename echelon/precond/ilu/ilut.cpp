// SPDX-License-Identifier: BSD-3-Clause
// ILUT and ILUTP of a block CSR matrix: checks, and the order of the steps
//   ordering → attempts by the policy, each with a pattern of its own → triangles → plans.
// Rows are the business of factor/ilut/ilut*, the policy that of factor/pivots/breakdown.
#include <fmt/format.h>

#include <mutex>
#include <numeric>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/ilut/ilut.hpp"
#include "echelon/factor/pivots/shift_search.hpp"
#include "echelon/factor/rows/symbolic.hpp"
#include "echelon/precond/ilu/converted_ilu.hpp"
#include "echelon/precond/ilu/factored_solve.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/schedule/orders/colouring.hpp"

namespace echelon {
namespace {

template <class T>
class BlockIlut final : public Ilu<T>::Impl {
 public:
  BlockIlut(const BlockCsr<T>& A, const IluOptions& options) : options_(options), rows_(A.block_rows()), block_(A.block()) {
    factor(A);
  }

  void apply(const Vector<T>& r, Vector<T>& z) const override {
    solve_.apply(r, z, {order_.span(), pivoting() ? column_order_.span() : order_.span()});
  }
  void refactor(const BlockCsr<T>& A) override;
  BlockCsr<T> lower() const override { return solve_.lower(); }
  BlockCsr<T> upper() const override { return solve_.upper(); }
  const Triangles<T>* triangles() const override { return &solve_.factors; }
  std::span<const std::int32_t> order() const override { return or_natural(order_); }
  std::span<const std::int32_t> column_order() const override {
    return pivoting() ? std::span<const std::int32_t>(column_order_.span()) : order();
  }

 private:
  bool pivoting() const { return options_.column_pivoting > 0; }
  std::span<const std::int32_t> or_natural(const Array<std::int32_t>& order) const;
  void factor(const BlockCsr<T>& A);
  void make_order(const PatternView& pattern);
  void take(const IlutFactorization<T>& rows);
  void describe(const BlockCsr<T>& A, const IlutOutcome& outcome);

  IluOptions options_;
  std::int64_t rows_;
  int block_;
  Array<std::int32_t> order_;         // elimination position → user's block row; empty when natural
  Array<std::int32_t> position_;      // its inverse
  Array<std::int32_t> column_order_;  // pivoting: elimination position → user's block column
  mutable std::once_flag natural_order_made_;
  mutable Array<std::int32_t> natural_order_;  // made when asked for
  FactoredSolve<T> solve_;
};

template <class T>
void BlockIlut<T>::make_order(const PatternView& pattern) {
  if (options_.ordering == Ordering::natural) return;
  auto found = elimination_order(pattern, options_.ordering);
  order_ = std::move(found.order);
  this->report.colours = found.colours;
  position_ = Array<std::int32_t>(rows_);
  for (std::int64_t i = 0; i < rows_; ++i) position_[order_[i]] = static_cast<std::int32_t>(i);
}

template <class T>
void BlockIlut<T>::take(const IlutFactorization<T>& rows) {
  rows.write(solve_.factors);
  if (pivoting()) column_order_ = Array<std::int32_t>(rows.column_order());
  solve_.plan(options_.schedule, threads());
}

template <class T>
void BlockIlut<T>::factor(const BlockCsr<T>& A) {
  const Timer all;
  auto& about = this->report;
  const PatternView pattern{A.block_rows(), A.row_start().data(), A.column().data()};
  about.name = "ilut";
  about.kind = PrecondKind::thresholds;
  about.lfil = options_.lfil;
  about.drop = options_.drop;
  about.column_pivoting = options_.column_pivoting;
  about.remarks.clear();
  about.ok = false;  // until there are factors in this order
  about.message = "ILUT was not finished";
  // Pivoting takes what it finds in a row: a diagonal that is not there is no repair then.
  about.missing_diagonals = pivoting() ? 0 : missing_diagonals(pattern);
  if (about.missing_diagonals > 0) {
    about.remarks.push_back(fmt::format("{} diagonal {} missing and inserted as zero", about.missing_diagonals,
                                        block_ > 1 ? "blocks were" : "entries were"));
  }
  make_order(pattern);
  IlutFactorization<T> rows(A, order_.span(), position_.span(),
                            {options_.lfil, options_.drop, options_.column_pivoting, options_.most_operations}, threads());
  about.factor_kernel = rows.kernel();
  about.symbolic_seconds = all.seconds();

  PivotLog log;
  IlutOutcome outcome;
  bool taken = false;
  const double first = first_magnitude(A.values());
  const auto attempt = [&](const Attempt& one) {
    outcome = rows.attempt({options_.pivot_tolerance, one.shift, one.boost, false, first > 0 ? first : 1, &log});
    log.record_change(outcome.change, outcome.norm);
    taken = false;
  };
  const auto growth = [&] {
    take(rows);
    taken = true;
    return growth_by(outcome.inverse_bound, outcome.norm, [&] { return solve_.inverse_growth(); });
  };
  factor_with_policy(options_, false, title(about), log, attempt, growth, about,
                     AttemptCost{[&] { return static_cast<double>(outcome.operations); }, nullptr});
  if (!taken) take(rows);
  describe(A, outcome);
  about.numeric_seconds = all.seconds() - about.symbolic_seconds;
  if (about.ok) solve_.choose(options_.trisolve, about);
}

template <class T>
void BlockIlut<T>::describe(const BlockCsr<T>& A, const IlutOutcome& outcome) {
  auto& about = this->report;
  about.ordering = word(options_.ordering);
  about.fill_limited_rows = outcome.limited_rows;
  about.column_swaps = outcome.column_swaps;
  solve_.describe(A.blocks(), about);
  about.bytes += order_.bytes() + position_.bytes() + column_order_.bytes();
  if (outcome.limited_rows > 0) {
    about.remarks.push_back(
        fmt::format("fill limit reached in {} of {} rows: more than {} entries of L or of U passed the "
                    "drop tolerance there",
                    outcome.limited_rows, rows_, options_.lfil));
  }
  if (outcome.column_swaps > 0)
    about.remarks.push_back(fmt::format("{} columns changed places by pivoting", outcome.column_swaps));
}

template <class T>
void BlockIlut<T>::refactor(const BlockCsr<T>& A) {
  if (A.block_rows() != rows_ || A.block_columns() != rows_ || A.block() != block_) {
    throw Error(ErrorCode::structure,
                fmt::format("refactor got {}×{} blocks of {}, but {}×{} blocks of {} were factored first", A.block_rows(),
                            A.block_columns(), A.block(), rows_, rows_, block_));
  }
  factor(A);
  this->report.remarks.emplace_back("the factors' pattern was computed anew: with thresholds it depends on the values");
}

template <class T>
std::span<const std::int32_t> BlockIlut<T>::or_natural(const Array<std::int32_t>& order) const {
  if (!order.empty()) return order.span();
  std::call_once(natural_order_made_, [this] {
    natural_order_ = Array<std::int32_t>(rows_);
    std::iota(natural_order_.begin(), natural_order_.end(), 0);
  });
  return natural_order_.span();
}

}  // namespace

template <class T>
Ilu<T> ilut(const BlockCsr<T>& A, const IluOptions& options) {
  check_matrix(A, options);
  require_elimination(options, "ILUT");
  if (options.column_pivoting > 0 && A.block() > 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("column pivoting needs blocks of size 1; got blocks of {}", A.block()));
  }
  return Ilu<T>(std::make_unique<BlockIlut<T>>(A, options));
}

template <class T>
Ilu<T> ilut(const StructMatrix<T>& A, const IluOptions& options) {
  return Ilu<T>(converted_ilu<T>(A, options, ilut<T>));
}

template Ilu<double> ilut(const BlockCsr<double>&, const IluOptions&);
template Ilu<float> ilut(const BlockCsr<float>&, const IluOptions&);
template Ilu<double> ilut(const StructMatrix<double>&, const IluOptions&);
template Ilu<float> ilut(const StructMatrix<float>&, const IluOptions&);

}  // namespace echelon
