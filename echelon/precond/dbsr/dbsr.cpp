// SPDX-License-Identifier: BSD-3-Clause
// The order of the steps: blocks and colours → diagonal block rows → lists of products → factors by the policy.
#include "echelon/precond/dbsr/dbsr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/lent_scratch.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/dbsr/dbsr_factors.hpp"
#include "echelon/factor/grid_checks.hpp"
#include "echelon/factor/pivots/breakdown.hpp"
#include "echelon/matrix/dbsr/dbsr_matrix.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/schedule/blocks/graph_blocks.hpp"
#include "echelon/sweep/dbsr/dbsr_sweep.hpp"

namespace echelon {
namespace {

template <class T>
void check_precision(const IluOptions& options) {
  check_options(options);
  if (options.precision == Stored::fp64 || options.precision == Stored::fp32) return;
  throw Error(ErrorCode::bad_option,
              fmt::format("factors in DBSR are kept in fp64 or fp32; got {}", word(options.precision)));
}

struct ChosenBlocks {
  std::shared_ptr<const BlockColouring> order;
  std::string shape;  // for the report
};

template <class T>
ChosenBlocks blocks_of(const StructMatrix<T>& A, const BlockOptions& options) {
  return {std::make_shared<BlockColouring>(grid_block_colouring(A.grid(), A.stencil(), options)),
          shape_text(A.grid(), block_shape(A.grid(), A.stencil(), options))};
}

/// A box's points, and no more than there are rows; 0 where it is no box.
std::int64_t rows_of(const Grid& shape, std::int64_t rows) {
  const std::int64_t most = std::max<std::int64_t>(1, rows);
  std::int64_t points = 1;
  for (const std::int64_t side : {shape.nx, shape.ny, shape.nz}) {
    points = side < 1 ? 0 : std::min(points * std::min(side, most), most);
  }
  return points;
}

template <class T>
ChosenBlocks blocks_of(const BlockCsr<T>& A, const BlockOptions& options) {
  if (A.block() != 1) throw Error(ErrorCode::bad_argument, fmt::format("DBSR: blocks of size {}, 1 is needed", A.block()));
  const PatternView pattern{A.block_rows(), A.row_start().data(), A.column().data()};
  const int bsize = std::max(1, options.bsize);
  constexpr std::int64_t fixed = 64;
  std::int64_t rows = fixed;
  if (options.choice == BlockChoice::given) rows = rows_of(options.shape, A.rows());
  auto order = std::make_shared<BlockColouring>();
  if (options.choice == BlockChoice::automatic) {
    const std::int64_t team = options.threads > 0 ? options.threads : threads();
    // Few colours are usual: the first guess gives each its blocks, and half of it is tried until they have them.
    for (rows = std::max(fixed, A.rows() / (team * bsize * 4)); rows > fixed; rows /= 2) {
      *order = graph_block_colouring(pattern, rows, bsize);
      if (order->fewest_blocks() >= team * bsize) break;
    }
    rows = std::max(rows, fixed);
  }
  if (order->bsize() == 0 || rows <= fixed) *order = graph_block_colouring(pattern, rows, bsize);
  return {order, fmt::format("{} rows", rows)};
}

template <class T>
double asymmetry_of(const StructMatrix<T>& A) {
  return asymmetry(A);
}
template <class T>
double asymmetry_of(const BlockCsr<T>& A) {
  return asymmetry(A);
}

}  // namespace

template <class T>
struct Dbsr<T>::Impl {
  template <class Matrix>
  Impl(const Matrix& A, const DbsrOptions& options);
  template <class Matrix>
  void refactor(const Matrix& A);
  void apply(const Vector<T>& r, Vector<T>& z) const;

  FactorReport report;
  ChosenBlocks blocks;
  DbsrMatrix<T> matrix;

 private:
  template <class Matrix>
  void judge_symmetry(const Matrix& A, bool first);
  void describe();
  void factor();
  double growth();
  T zero_row_scale() const;
  void sweep(Vector<T>& x) const;
  auto borrow() const {
    return scratch_.take([&](Vector<T>& spare) {
      if (spare.size() != matrix.positions()) spare = Vector<T>(matrix.positions());
    });
  }

  DbsrOptions options_;
  bool positive_ = false;
  DbsrFactors<T> factors_;
  PivotLog log_;
  LentScratch<Vector<T>> scratch_;
};

template <class T>
template <class Matrix>
Dbsr<T>::Impl::Impl(const Matrix& A, const DbsrOptions& options)
    : blocks(blocks_of(A, options.blocks)),
      matrix(A, blocks.order),
      options_(options),
      factors_(matrix.share_order(), matrix.share_pattern()) {
  check_precision<T>(options.ilu);
  judge_symmetry(A, true);
  scratch_.own() = Vector<T>(matrix.positions(), T(0));
  report.bad_pivots.reserve(PivotLog::kept);
  describe();
  factor();
}

/// Symmetric once is symmetric at every refactor: what CG relies on does not change behind its back.
template <class T>
template <class Matrix>
void Dbsr<T>::Impl::judge_symmetry(const Matrix& A, bool first) {
  const double far = first || positive_ ? asymmetry_of(A) : 0;
  if (!first && positive_) return require_symmetric<T>(far);
  if (!first) return;
  const auto point = matrix.order().point();
  bool positive = far <= (sizeof(T) == 8 ? 1e-13 : 1e-6) && matrix.pattern().missing_diagonals == 0;
  for (std::int64_t p = 0; positive && p < matrix.positions(); ++p) {
    positive = point[static_cast<std::size_t>(p)] < 0 || matrix.diagonal()[static_cast<std::size_t>(p)] > 0;
  }
  positive_ = positive;
}

template <class T>
void Dbsr<T>::Impl::describe() {
  name_levels(report, positive_, "dbsr-");
  const BlockColouring& order = matrix.order();
  report.ordering = fmt::format("block multicolour ({} a block, bsize {}, lanes {}, {:.3f} values a nonzero)", blocks.shape,
                                order.bsize(), order.numbering(), matrix.stored_a_nonzero());
  report.kernel = fmt::format("dbsr, bsize={}", order.bsize());
  report.factor_kernel = report.kernel;
  report.colours = report.levels = static_cast<std::int64_t>(order.colours().size());
  report.fill_ratio = 1;
  report.missing_diagonals = matrix.pattern().missing_diagonals;
}

template <class T>
template <class Matrix>
void Dbsr<T>::Impl::refactor(const Matrix& A) {
  judge_symmetry(A, false);
  report.ok = false;  // until there are factors of the new values
  matrix.refresh(A);
  report.symbolic_seconds = 0;
  factor();
}

/// An entry of A, so that it scales with A.
template <class T>
T Dbsr<T>::Impl::zero_row_scale() const {
  for (const auto values : {matrix.diagonal(), matrix.lower_values(), matrix.upper_values()}) {
    const double first = first_magnitude(values);
    if (first > 0) return static_cast<T>(first);
  }
  return 1;
}

template <class T>
void Dbsr<T>::Impl::factor() {
  Timer timer;
  report.remarks.clear();
  if (report.missing_diagonals > 0) {
    report.remarks.push_back(fmt::format("{} diagonal entries were missing and inserted as zero", report.missing_diagonals));
  }
  report.ok = false;
  const IluOptions& o = options_.ilu;
  const double zero_scale = static_cast<double>(zero_row_scale());
  factor_with_policy(
      o, positive_, positive_ ? "IC(0)" : "ILU(0)", log_,
      [&](const Attempt& one) {
        factors_.attempt(matrix, {o.pivot_tolerance, one.shift, one.boost, positive_, zero_scale, &log_});
      },
      [&] { return growth(); }, report);
  if (report.ok && bytes_of(o.precision) < static_cast<int>(sizeof(T))) {
    const std::int64_t lost = factors_.narrow();
    if (lost > 0) report.remarks.push_back(fmt::format("{} values of the factors leave the range of fp32", lost));
  }
  report.precision = word(factors_.stored());
  report.schedule = threads_for(matrix.nonzeros() / 2) > 1 ? "colours" : "sequential";
  report.bytes = factors_.bytes();
  report.numeric_seconds = timer.seconds();
}

template <class T>
double Dbsr<T>::Impl::growth() {
  return growth_by(factors_.inverse_bound(), factors_.norm(), [this] {
    auto loan = borrow();
    Vector<T>& probe = *loan;
    const auto point = matrix.order().point();
    for (std::int64_t p = 0; p < matrix.positions(); ++p) probe[p] = point[static_cast<std::size_t>(p)] < 0 ? T(0) : T(1);
    sweep(probe);
    double largest = 0;
    for (const T value : probe) {
      const double size = std::abs(static_cast<double>(value));
      if (!std::isfinite(size)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, size);
    }
    return largest;
  });
}

/// In place; x is zero in padding, and stays so.
template <class T>
void Dbsr<T>::Impl::sweep(Vector<T>& x) const {
  const auto kernels = dbsr_sweep_kernels<T>(matrix.bsize(), factors_.stored());
  const DbsrSweepView<T> view{factors_.lower(), factors_.upper(), factors_.inverse(), x.data(), x.data(), nullptr};
  const int team = threads_for(matrix.nonzeros() / 2);
  run_colours(matrix.order(), ColourOrder::ascending, team, kernels.lower, view);
  run_colours(matrix.order(), ColourOrder::descending, team, kernels.upper, view);
}

template <class T>
void Dbsr<T>::Impl::apply(const Vector<T>& r, Vector<T>& z) const {
  const std::int64_t n = matrix.rows();
  if (r.size() != n) throw_size_mismatch("right-hand side of DBSR", r.size(), n);
  if (z.size() != n) throw_size_mismatch("result of DBSR", z.size(), n);
  auto loan = borrow();
  Vector<T>& x = *loan;
  const std::int32_t* point = matrix.order().point().data();
  const T scale = factors_.r_scale();
  const std::int64_t positions = matrix.positions();
#pragma omp parallel for schedule(static) num_threads(threads_for(positions))
  for (std::int64_t p = 0; p < positions; ++p) x[p] = point[p] < 0 ? T(0) : r[point[p]] * scale;
  sweep(x);
  matrix.permute_back(x, z);
}

template <class T>
Dbsr<T>::Dbsr(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <class T>
Dbsr<T>::Dbsr(Dbsr&&) noexcept = default;
template <class T>
Dbsr<T>& Dbsr<T>::operator=(Dbsr&&) noexcept = default;
template <class T>
Dbsr<T>::~Dbsr() = default;
template <class T>
void Dbsr<T>::apply(const Vector<T>& r, Vector<T>& z) const {
  if (!report().ok) throw Error(ErrorCode::bad_argument, "a failed factorization was applied: " + report().message);
  if (!r.device().is_host() || !z.device().is_host()) {
    throw Error(ErrorCode::device,
                fmt::format("mixing places: DBSR is on host, r on {}, z on {}", r.device().name(), z.device().name()));
  }
  impl_->apply(r, z);
}
template <class T>
const FactorReport& Dbsr<T>::report() const {
  return impl_->report;
}
template <class T>
const BlockColouring& Dbsr<T>::order() const {
  return impl_->matrix.order();
}
template <class T>
double Dbsr<T>::stored_a_nonzero() const {
  return impl_->matrix.stored_a_nonzero();
}

namespace {

/// What a factorization says of its rows, in the words of a grid.
template <class T>
void name_points(const StructMatrix<T>& A, FactorReport& report) {
  name_grid_points(A.grid(), 1, report);
}
template <class T>
void name_points(const BlockCsr<T>&, FactorReport&) {}

template <class T, class Matrix>
Dbsr<T> made(const Matrix& A, const DbsrOptions& options) {
  Timer timer;
  auto impl = std::make_unique<typename Dbsr<T>::Impl>(A, options);
  name_points(A, impl->report);
  impl->report.symbolic_seconds = std::max(0.0, timer.seconds() - impl->report.numeric_seconds);
  impl->report.ordering_seconds = impl->report.symbolic_seconds;
  return Dbsr<T>(std::move(impl));
}

}  // namespace

template <class T>
const FactorReport& Dbsr<T>::refactor(const StructMatrix<T>& A) {
  impl_->refactor(A);
  name_points(A, impl_->report);
  return impl_->report;
}
template <class T>
const FactorReport& Dbsr<T>::refactor(const BlockCsr<T>& A) {
  impl_->refactor(A);
  return impl_->report;
}

template <class T>
Dbsr<T> dbsr(const StructMatrix<T>& A, const DbsrOptions& options) {
  return made<T>(A, options);
}
template <class T>
Dbsr<T> dbsr(const BlockCsr<T>& A, const DbsrOptions& options) {
  return made<T>(A, options);
}

template class Dbsr<double>;
template class Dbsr<float>;
template Dbsr<double> dbsr(const StructMatrix<double>&, const DbsrOptions&);
template Dbsr<double> dbsr(const BlockCsr<double>&, const DbsrOptions&);
template Dbsr<float> dbsr(const StructMatrix<float>&, const DbsrOptions&);
template Dbsr<float> dbsr(const BlockCsr<float>&, const DbsrOptions&);

}  // namespace echelon
