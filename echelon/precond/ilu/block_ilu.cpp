// SPDX-License-Identifier: BSD-3-Clause
// ILU(k) and IC(k) of a block CSR matrix, by elimination or by fixed-point sweeps (ParILU, ParIC): checks, allocation, and
// the order of the steps
//   ordering → pattern → triangles → plans → values → factor by the policy;
// rows are the business of factor/, sweeps that of sweep/, threads that of schedule/.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/factor/counted_fill.hpp"
#include "echelon/factor/fixed_point/fixed_point.hpp"
#include "echelon/factor/pivots/shift_search.hpp"
#include "echelon/factor/rows/ilu_numeric.hpp"
#include "echelon/precond/ilu/factored_solve.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/schedule/orders/colouring.hpp"
#include "echelon/schedule/rows/run_plan.hpp"

namespace echelon {
namespace {

template <class T>
double zero_row_scale(const BlockCsr<T>& A) {
  const double first = first_magnitude(A.values());
  return first > 0 ? first : 1;
}

template <class T>
class BlockIlu final : public Ilu<T>::Impl {
 public:
  BlockIlu(const BlockCsr<T>& A, const IluOptions& options, bool positive_definite);

  void apply(const Vector<T>& r, Vector<T>& z) const override;
  void refactor(const BlockCsr<T>& A) override;
  BlockCsr<T> lower() const override { return solve_.lower(); }
  BlockCsr<T> upper() const override { return solve_.upper(); }
  const Triangles<T>* triangles() const override { return &solve_.factors; }
  std::span<const std::int32_t> order() const override;

 private:
  bool natural() const { return options_.ordering == Ordering::natural; }
  void make_pattern(const BlockCsr<T>& A);
  void make_workspaces();
  void require_same_pattern(const BlockCsr<T>& A) const;
  void factor(const BlockCsr<T>& A);
  void attempt(const BlockCsr<T>& A, const Attempt& attempt);
  void share_out(T two_less_omega);
  void eliminate(const FactorView<T>& view);
  double operations();
  double shift_without_fill(const BlockCsr<T>& A) const;
  void fill_report(const BlockCsr<T>& A);

  IluOptions options_;
  bool positive_definite_;
  std::string title_;                  // "ILU(0)", for messages
  mutable Array<std::int32_t> order_;  // elimination position → user's block row; made when asked for if natural
  mutable std::once_flag order_made_;
  Array<std::int32_t> position_;  // its inverse; empty when natural
  bool grown_ = false;            // the factors' pattern is larger than A's
  Pattern original_;              // A's pattern where the triangles do not have it, for refactor
  FactoredSolve<T> solve_;
  double operations_ = 0;  // of one elimination; 0: not counted yet
  FactorRange<T> factor_rows_ = nullptr;
  std::optional<FixedPoint<T>> fixed_point_;
  FixedPointOutcome swept_;
  std::vector<RowWorkspace<T>> workspaces_;
  Array<T> dense_, small_;
  Array<T*> targets_;
  Array<int> swaps_;
  Array<std::int64_t> mirror_;  // IC: for the test of symmetry
  PivotLog log_;
  FactorBounds bounds_;  // of U's rows, of an elimination
  double norm_ = 0;
};

template <class T>
BlockIlu<T>::BlockIlu(const BlockCsr<T>& A, const IluOptions& options, bool positive_definite)
    : options_(options),
      positive_definite_(positive_definite),
      title_(options.omega > 0 ? fmt::format("SSOR({:g})", options.omega)
                               : fmt::format("{}{}({})", options.factor_sweeps > 0 ? "Par" : "",
                                             positive_definite ? "IC" : "ILU", options.fill)) {
  Timer timer;
  if (positive_definite) {
    mirror_ = Array<std::int64_t>(A.block_rows());
    require_symmetry(A, mirror_.span());
  }
  solve_.factors.rows = A.block_rows();
  solve_.factors.block = A.block();
  make_pattern(A);
  const auto entries = std::int64_t{A.block()} * A.block();
  solve_.factors.lower_values = Array<T>(solve_.factors.lower.entries() * entries);
  solve_.factors.upper_values = Array<T>(solve_.factors.upper.entries() * entries);
  solve_.factors.inverse_diagonal = Array<T>(solve_.factors.rows * entries);
  const int team = threads();
  solve_.plan(options_.schedule, team);
  if (options_.factor_sweeps > 0) {
    fixed_point_.emplace(solve_.factors);
  } else {
    factor_rows_ = factor_kernel<T>(A.block(), solve_.factors.lower.narrow);
  }
  make_workspaces();
  fill_report(A);
  this->report.symbolic_seconds = timer.seconds();
  factor(A);
}

template <class T>
void BlockIlu<T>::make_pattern(const BlockCsr<T>& A) {
  const PatternView pattern{A.block_rows(), A.row_start().data(), A.column().data()};
  const auto n = A.block_rows();
  const bool narrow_allowed = A.block() == 1;
  // The common case takes A's own pattern, and learns in passing whether its diagonal is there.
  if (natural() && options_.fill == 0 && split(pattern, narrow_allowed, solve_.factors.lower, solve_.factors.upper)) return;
  this->report.missing_diagonals = missing_diagonals(pattern);
  grown_ = this->report.missing_diagonals > 0 || options_.fill > 0;
  if (!natural()) {
    const Timer timer;
    auto found = elimination_order(pattern, options_.ordering);
    this->report.ordering_seconds = timer.seconds();
    order_ = std::move(found.order);
    this->report.colours = found.colours;
    position_ = Array<std::int32_t>(n);
    for (std::int64_t i = 0; i < n; ++i) position_[order_[i]] = static_cast<std::int32_t>(i);
  }
  auto elimination = elimination_pattern(pattern, order_.span(), position_.span());
  if (options_.fill > 0) {
    const auto products = std::int64_t{A.block()} * A.block() * A.block();
    WorkBudget budget(title_, (options_.most_operations + products - 1) / products);
    elimination = filled_pattern(elimination.view(), options_.fill, budget);
    operations_ = static_cast<double>(budget.spent() * products);
  }
  split(elimination.view(), narrow_allowed, solve_.factors.lower, solve_.factors.upper);
  original_ = {Array<std::int64_t>(A.row_start()), Array<std::int32_t>(A.column())};
}

template <class T>
void BlockIlu<T>::make_workspaces() {
  const auto n = solve_.factors.rows;
  const std::int64_t team = fixed_point_ ? threads() : solve_.lower_plan().threads, b = solve_.factors.block;
  workspaces_.resize(static_cast<std::size_t>(team));
  if (b == 1) {
    dense_ = Array<T>(team * n);
  } else {
    targets_ = Array<T*>(team * n, nullptr);
    small_ = Array<T>(team * 3 * b * b);
    swaps_ = Array<int>(team * b);
  }
  for (std::int64_t t = 0; t < team; ++t) {
    auto& work = workspaces_[static_cast<std::size_t>(t)];
    if (b == 1) {
      work.dense = dense_.data() + t * n;
    } else {
      work.target = targets_.data() + t * n;
      work.small = small_.data() + t * 3 * b * b;
      work.swaps = swaps_.data() + t * b;
    }
  }
}

template <class T>
void BlockIlu<T>::fill_report(const BlockCsr<T>& A) {
  auto& about = this->report;
  name_levels(about, positive_definite_, fixed_point_ ? "par" : about.colours > 0 ? "mc" : "");
  name_relaxation(options_.omega, about);
  about.fill = options_.fill;
  about.ordering = word(options_.ordering);
  about.factor_sweeps = options_.factor_sweeps;
  const bool narrow = solve_.factors.lower.narrow;
  about.factor_kernel = fixed_point_ ? fixed_point_kernel_name(A.block(), narrow) : factor_kernel_name(A.block(), narrow);
  solve_.describe(A.blocks(), about);
  about.bytes += order_.bytes() + position_.bytes() + original_.start.bytes() + original_.column.bytes() + dense_.bytes() +
                 targets_.bytes() + mirror_.bytes() + (fixed_point_ ? fixed_point_->bytes() : 0);
  about.bad_pivots.reserve(PivotLog::kept);
}

template <class T>
void BlockIlu<T>::factor(const BlockCsr<T>& A) {
  Timer timer;
  this->report.remarks.clear();
  if (this->report.missing_diagonals > 0) {
    this->report.remarks.push_back(fmt::format("{} diagonal {} missing and inserted as zero", this->report.missing_diagonals,
                                               solve_.factors.block > 1 ? "blocks were" : "entries were"));
  }
  factor_with_policy(
      options_, positive_definite_, title_, log_, [this, &A](const Attempt& one) { attempt(A, one); },
      [this] {
        return fixed_point_ ? swept_.growth([this] { return solve_.inverse_growth(); }) : solve_.growth(bounds_, norm_);
      },
      this->report, AttemptCost{[this] { return operations(); }, [this, &A] { return shift_without_fill(A); }});
  if (fixed_point_) swept_.tell(title_, options_.factor_sweeps, "fixed-point sweeps", log_, this->report);
  solve_.choose(options_.trisolve, this->report);
  this->report.numeric_seconds = timer.seconds();
}

template <class T>
void BlockIlu<T>::attempt(const BlockCsr<T>& A, const Attempt& attempt) {
  const auto& lower = solve_.factors.lower;
  const auto& upper = solve_.factors.upper;
  const auto distance = [](const TrianglePattern& triangle) {
    return with_distances(triangle, [](const auto* d) { return static_cast<const void*>(d); });
  };
  const FactorView<T> view{
      A.view(),
      natural() ? nullptr : order_.data(),
      natural() ? nullptr : position_.data(),
      grown_,
      lower.start.data(),
      upper.start.data(),
      distance(lower),
      distance(upper),
      solve_.factors.lower_values.data(),
      solve_.factors.upper_values.data(),
      solve_.factors.inverse_diagonal.data(),
      {options_.pivot_tolerance, attempt.shift, attempt.boost, positive_definite_, zero_row_scale(A), &log_},
      options_.omega};
  if (fixed_point_) {
    swept_ = fixed_point_->run(view, options_.factor_sweeps, workspaces_);
    norm_ = swept_.norm;
    log_.record_change(swept_.change, norm_);
    return;
  }
  for (auto& work : workspaces_) {
    work.norm = work.change = 0;
    work.bounds = {};
  }
  eliminate(view);
  double change = 0;
  norm_ = 0;
  bounds_ = {};
  for (const auto& work : workspaces_) {
    bounds_.include(work.bounds);
    norm_ = std::max(norm_, work.norm);
    change = std::max(change, work.change);
  }
  log_.record_change(change, norm_);
  if (options_.omega > 0) share_out(static_cast<T>(2 - options_.omega));
}

/// SSOR: M has 1 / (2 − ω), U takes it.
template <class T>
void BlockIlu<T>::share_out(T two_less_omega) {
  if (two_less_omega == 1) return;
  for (T& value : solve_.factors.upper_values) value /= two_less_omega;
  for (T& value : solve_.factors.inverse_diagonal) value *= two_less_omega;
}

/// Rows in pieces of some milliseconds when somebody may want to end it. Told to stop, threads leave rows out and still say
/// that they passed them: nobody waits for ever, and what they leave behind is thrown away.
template <class T>
void BlockIlu<T>::eliminate(const FactorView<T>& view) {
  const auto& lower = solve_.factors.lower;
  const auto& upper = solve_.factors.upper;
  const std::int64_t n = lower.rows, b = solve_.factors.block;
  SharedWork shared;
  std::int64_t longest = 0;
  for (std::int64_t s = 0; shared.watched() && s < n; ++s) longest = std::max(longest, upper.start[s + 1] - upper.start[s]);
  const auto most_work = [&](std::int64_t begin, std::int64_t end) {
    const auto below = lower.start[end] - lower.start[begin], above = upper.start[n - begin] - upper.start[n - end];
    return (below * (longest + 1) + above + end - begin) * b * b * b;
  };
  run_plan(solve_.lower_plan(), solve_.progress(), [&](std::int64_t begin, std::int64_t end, int thread) {
    auto& work = workspaces_[static_cast<std::size_t>(thread)];
    if (!shared.watched()) return factor_rows_(view, begin, end, work);
    while (begin < end) {
      auto next = end;
      while (next - begin > 1 && most_work(begin, next) > WorkWatch::operations_a_question)
        next = begin + (next - begin) / 2;
      if (!shared.goes_on(most_work(begin, next))) return;
      factor_rows_(view, begin, next, work);
      begin = next;
    }
  });
  shared.finish();
}

template <class T>
double BlockIlu<T>::operations() {
  const double b = solve_.factors.block;
  if (operations_ == 0) {
    operations_ = b * b * b * static_cast<double>(elimination_operations(solve_.factors.lower, solve_.factors.upper));
  }
  return operations_;
}

/// Fill takes many times the work and rarely another shift.
template <class T>
double BlockIlu<T>::shift_without_fill(const BlockCsr<T>& A) const {
  if (options_.fill == 0) return 0;
  IluOptions options = options_;
  options.fill = 0;
  options.trisolve = {};
  const BlockIlu without(A, options, positive_definite_);
  return without.report.ok ? without.report.shift : 0;
}

template <class T>
void BlockIlu<T>::apply(const Vector<T>& r, Vector<T>& z) const {
  if (natural()) {
    solve_.apply(r, z, {});
  } else {
    solve_.apply(r, z, {order_.span(), order_.span()});
  }
}

template <class T>
void BlockIlu<T>::require_same_pattern(const BlockCsr<T>& A) const {
  if (A.block_rows() != solve_.factors.rows || A.block_columns() != solve_.factors.rows ||
      A.block() != solve_.factors.block) {
    throw Error(ErrorCode::structure,
                fmt::format("refactor got {}×{} blocks of {}, but {}×{} blocks of {} were factored first", A.block_rows(),
                            A.block_columns(), A.block(), solve_.factors.rows, solve_.factors.rows, solve_.factors.block));
  }
  const PatternView pattern{A.block_rows(), A.row_start().data(), A.column().data()};
  const auto row = original_.start.size() > 0 ? first_difference(pattern, original_.view())
                                              : first_difference(pattern, solve_.factors.lower, solve_.factors.upper);
  if (row >= 0) {
    throw Error(ErrorCode::structure,
                fmt::format("refactor needs the pattern of the first factorization; block row {} differs", Ordinal{row}));
  }
}

template <class T>
void BlockIlu<T>::refactor(const BlockCsr<T>& A) {
  require_same_pattern(A);
  if (positive_definite_) require_symmetry(A, mirror_.span());
  this->report.symbolic_seconds = this->report.ordering_seconds = 0;
  factor(A);
}

template <class T>
std::span<const std::int32_t> BlockIlu<T>::order() const {
  std::call_once(order_made_, [this] {
    if (!natural()) return;
    order_ = Array<std::int32_t>(solve_.factors.rows);
    std::iota(order_.begin(), order_.end(), 0);
  });
  return order_.span();
}

template <class T>
Ilu<T> make(const BlockCsr<T>& A, const IluOptions& options, bool positive_definite) {
  check_matrix(A, options);
  if (positive_definite) require_elimination(options, "IC");
  return Ilu<T>(std::make_unique<BlockIlu<T>>(A, options, positive_definite));
}

}  // namespace

template <class T>
Ilu<T> ilu(const BlockCsr<T>& A, const IluOptions& options) {
  return make(A, options, false);
}

template <class T>
Ilu<T> ic(const BlockCsr<T>& A, const IluOptions& options) {
  return make(A, options, true);
}

template <class T>
Ilu<T> sgs(const BlockCsr<T>& A, double omega, IluOptions options) {
  options.omega = checked_omega(omega);
  return make(A, options, false);
}

template <class T>
void require_symmetry(const BlockCsr<T>& A, std::span<std::int64_t> work) {
  const double far = asymmetry(A, work);
  // NaN is for the factorization to report, with its row.
  if (far > symmetry_tolerance<T>) {
    throw Error(
        ErrorCode::symmetry,
        fmt::format("IC needs a symmetric matrix; max|a_ij − a_ji| is {:.3g} of max|a_ij| (Inf: the pattern differs)", far));
  }
}

template void require_symmetry(const BlockCsr<double>&, std::span<std::int64_t>);
template void require_symmetry(const BlockCsr<float>&, std::span<std::int64_t>);
template Ilu<double> ilu(const BlockCsr<double>&, const IluOptions&);
template Ilu<float> ilu(const BlockCsr<float>&, const IluOptions&);
template Ilu<double> sgs(const BlockCsr<double>&, double, IluOptions);
template Ilu<float> sgs(const BlockCsr<float>&, double, IluOptions);
template Ilu<double> ic(const BlockCsr<double>&, const IluOptions&);
template Ilu<float> ic(const BlockCsr<float>&, const IluOptions&);

}  // namespace echelon
