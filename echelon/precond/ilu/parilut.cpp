// SPDX-License-Identifier: BSD-3-Clause
// ParILUT and ParICT of a matrix with blocks of size 1: rounds of growth, selection and sweeps
// (factor/fixed_point/threshold_rounds.hpp) by the breakdown policy, then the exact sweeps every factorization ends in. The
// pattern comes from the values, so a refactorization finds it anew and takes memory for it.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/fixed_point/threshold_rounds.hpp"
#include "echelon/precond/ilu/factored_solve.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/schedule/orders/colouring.hpp"

namespace echelon {
namespace {

template <class T>
class ParIlut final : public Ilu<T>::Impl {
 public:
  ParIlut(const BlockCsr<T>& A, const IluOptions& options, bool symmetric)
      : options_(options), symmetric_(symmetric), title_(symmetric ? "ParICT" : "ParILUT"), rows_(A.block_rows()) {
    if (options_.factor_sweeps == 0) options_.factor_sweeps = default_sweeps;
    const Timer timer;
    if (options.ordering != Ordering::natural) {
      auto found = elimination_order({rows_, A.row_start().data(), A.column().data()}, options.ordering);
      order_ = std::move(found.order);
      this->report.colours = found.colours;
      this->report.ordering_seconds = timer.seconds();
    }
    this->report.symbolic_seconds = timer.seconds();
    factor(A);
  }

  void apply(const Vector<T>& r, Vector<T>& z) const override {
    if (options_.ordering == Ordering::natural) {
      solve_.apply(r, z, {});
    } else {
      solve_.apply(r, z, {order_.span(), order_.span()});
    }
  }

  void refactor(const BlockCsr<T>& A) override {
    if (A.block_rows() != rows_ || A.block_columns() != rows_ || A.block() != 1) {
      throw Error(ErrorCode::structure, fmt::format("refactor got {}×{} rows, but {}×{} were factored first", A.rows(),
                                                    A.columns(), rows_, rows_));
    }
    this->report.symbolic_seconds = this->report.ordering_seconds = 0;
    factor(A);
  }

  BlockCsr<T> lower() const override { return solve_.lower(); }
  BlockCsr<T> upper() const override { return solve_.upper(); }
  const Triangles<T>* triangles() const override { return &solve_.factors; }
  std::span<const std::int32_t> order() const override {
    std::call_once(order_made_, [this] {
      if (options_.ordering != Ordering::natural) return;
      order_ = Array<std::int32_t>(rows_);
      for (std::int64_t i = 0; i < rows_; ++i) order_[i] = static_cast<std::int32_t>(i);
    });
    return order_.span();
  }

 private:
  void factor(const BlockCsr<T>& user) {
    const Timer timer;
    if (symmetric_) require_symmetry(user, Array<std::int64_t>(rows_).span());
    const bool natural = options_.ordering == Ordering::natural;
    std::optional<BlockCsr<T>> reordered;
    if (!natural) reordered.emplace(permuted(user, order_.span()));
    const BlockCsr<T>& A = natural ? user : *reordered;
    auto& about = this->report;
    about.remarks.clear();
    about.ok = false;
    about.message = title_ + " was not finished";
    about.missing_diagonals = missing_diagonals({rows_, A.row_start().data(), A.column().data()});
    if (about.missing_diagonals > 0) {
      about.remarks.push_back(fmt::format("{} diagonal entries were missing and inserted as zero", about.missing_diagonals));
    }
    const double first = first_magnitude(A.values());
    const ThresholdLimits limits = limits_for(A);
    factor_with_policy(
        options_, symmetric_, title_, log_,
        [&](const Attempt& one) {
          const PivotRules rules{options_.pivot_tolerance, one.shift, one.boost, symmetric_, first > 0 ? first : 1, &log_};
          SweptRows<T> S;
          outcome_ = threshold_rounds(A.view(), rules, natural ? nullptr : order_.data(), limits, S);
          take(S);
          log_.record_change(outcome_.change, outcome_.norm);
        },
        [&] { return outcome_.growth([this] { return solve_.inverse_growth(); }); }, about);
    describe(A);
    solve_.choose(options_.trisolve, about);
    about.numeric_seconds = timer.seconds();
  }

  /// The limit is on L + U with one diagonal each, as on those of A.
  ThresholdLimits limits_for(const BlockCsr<T>& A) const {
    std::int64_t below = 0, above = 0;
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (auto p = A.view().row_start[i]; p < A.view().row_start[i + 1]; ++p) {
        below += A.view().column[p] < i;
        above += A.view().column[p] > i;
      }
    }
    const auto limit = [&](std::int64_t entries) {
      const double all = options_.fill_limit * static_cast<double>(entries + rows_) - static_cast<double>(rows_);
      return all > 0 ? static_cast<std::int64_t>(all) : 0;
    };
    return {limit(below), limit(above), options_.factor_sweeps, symmetric_};
  }

  /// The rows of S become the factors: L = S D⁻¹ below the diagonal.
  void take(const SweptRows<T>& S) {
    auto& factors = solve_.factors;
    factors.rows = rows_;
    factors.block = 1;
    const Pattern pattern{S.start.clone(), S.column.clone()};
    split(pattern.view(), true, factors.lower, factors.upper);
    factors.lower_values = Array<T>(factors.lower.entries());
    factors.upper_values = Array<T>(factors.upper.entries());
    factors.inverse_diagonal = S.inverse_diagonal.clone();
    const int team = threads_for(S.column.size());
    FactorBounds bounds;
#pragma omp parallel num_threads(team) if (team > 1)
    {
      FactorBounds own;
#pragma omp for
      for (std::int64_t i = 0; i < rows_; ++i) take_row(S, i, own);
#pragma omp critical(echelon_factor_bounds)
      bounds.include(own);
    }
    outcome_.inverse_bound = bounds.of_inverse();
    solve_.plan(options_.schedule, threads());
  }

  void take_row(const SweptRows<T>& S, std::int64_t i, FactorBounds& bounds) {
    auto& factors = solve_.factors;
    double below = 0, above = 0;
    auto to = factors.lower.start[i];
    for (auto p = S.start[i]; p < S.diagonal[i]; ++p, ++to) {
      factors.lower_values[to] = S.value[p] * S.inverse_diagonal[S.column[p]];
      below += static_cast<double>(magnitude(factors.lower_values[to]));
    }
    to = factors.upper.start[rows_ - 1 - i];
    for (auto p = S.diagonal[i] + 1; p < S.start[i + 1]; ++p, ++to) {
      factors.upper_values[to] = S.value[p];
      above += static_cast<double>(magnitude(S.value[p]));
    }
    bounds.include(below, above, static_cast<double>(S.inverse_diagonal[i]));
  }

  void describe(const BlockCsr<T>& A) {
    auto& about = this->report;
    about.name = symmetric_ ? "parict" : "parilut";
    about.kind = PrecondKind::fill_limit;
    about.symmetric = symmetric_;
    about.ordering = word(options_.ordering);
    about.factor_kernel = threshold_rounds_name;
    solve_.describe(A.blocks(), about);
    about.bytes += order_.bytes();
    about.factor_sweeps = options_.factor_sweeps;
    about.fill_limit = options_.fill_limit;
    about.threshold = std::min(outcome_.lower_threshold, outcome_.upper_threshold);
    outcome_.tell(title_, options_.factor_sweeps, "rounds of fixed-point sweeps", log_, about);
  }

  IluOptions options_;
  bool symmetric_;
  std::string title_;
  std::int64_t rows_;
  mutable std::once_flag order_made_;
  mutable Array<std::int32_t> order_;  // made when asked for if natural
  FactoredSolve<T> solve_;
  ThresholdOutcome outcome_;
  PivotLog log_;
};

template <class T>
Ilu<T> make(const BlockCsr<T>& A, const IluOptions& options, bool symmetric) {
  check_options(options);
  require_elimination(options, "ParILUT");
  if (!A.square()) {
    throw Error(ErrorCode::not_square, fmt::format("ILU needs a square matrix; got {}×{}", A.rows(), A.columns()));
  }
  if (A.block() != 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("ParILUT takes blocks of size 1; got {}", A.block()));
  }
  if (!A.device().is_host()) {
    throw Error(ErrorCode::device, "ILU of a matrix on " + A.device().name() + "; it must be on the host");
  }
  return Ilu<T>(std::make_unique<ParIlut<T>>(A, options, symmetric));
}

}  // namespace

template <class T>
Ilu<T> parilut(const BlockCsr<T>& A, const IluOptions& options) {
  return make(A, options, false);
}

template <class T>
Ilu<T> parict(const BlockCsr<T>& A, const IluOptions& options) {
  return make(A, options, true);
}

template Ilu<double> parilut(const BlockCsr<double>&, const IluOptions&);
template Ilu<float> parilut(const BlockCsr<float>&, const IluOptions&);
template Ilu<double> parict(const BlockCsr<double>&, const IluOptions&);
template Ilu<float> parict(const BlockCsr<float>&, const IluOptions&);

}  // namespace echelon
