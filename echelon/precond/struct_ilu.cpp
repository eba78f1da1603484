// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) and IC(0) of a structured matrix by the sequential reference: checks, allocation, look-up; points are the business
// of factor/struct_ilu0. Fill above 0 and other orderings leave the stencil, so they go through block CSR, and say so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/factor/struct_ilu0.hpp"
#include "echelon/matrix/shapes.hpp"
#include "echelon/matrix/vector_checks.hpp"
#include "echelon/precond/ilu_impl.hpp"
#include "echelon/report/timer.hpp"

namespace echelon {
namespace {

std::string place(const Grid& grid, int dof, std::int64_t row) {
  const std::int64_t point = row / dof;
  return fmt::format("grid point ({},{},{}), component {}, row {}", point % grid.nx, point / grid.nx % grid.ny,
                     point / grid.nx / grid.ny, row % dof, row);
}

/// The rows of the report as grid points, for people.
void name_grid_points(const Grid& grid, int dof, FactorReport& report) {
  if (report.bad_pivots.empty()) return;
  const std::string first = fmt::format("first bad pivot: {}", place(grid, dof, report.bad_pivots.front().row));
  if (!report.ok) report.message += fmt::format(" ({})", first);
  report.remarks.push_back(first);
}

template <class T>
void require_same_shape(const StructMatrix<T>& A, const Grid& grid, const Stencil& stencil, int dof) {
  const auto offsets = A.stencil().offsets();
  if (A.grid() == grid && A.dof() == dof && std::ranges::equal(offsets, stencil.offsets())) return;
  throw Error(
      ErrorCode::structure,
      fmt::format("refactor needs the first matrix' shape: got grid {}x{}x{}, {} entries, {} unknowns a point; expected "
                  "grid {}x{}x{}, {} entries, {} unknowns a point",
                  A.grid().nx, A.grid().ny, A.grid().nz, A.stencil().size(), A.dof(), grid.nx, grid.ny, grid.nz,
                  stencil.size(), dof));
}

/// In the order of the rows, so that it is block CSR's.
template <class T>
double zero_row_scale(const StructMatrix<T>& A) {
  const Grid& g = A.grid();
  for (std::int64_t point = 0; point < g.points(); ++point) {
    const std::int64_t i = point % g.nx, j = point / g.nx % g.ny, k = point / g.nx / g.ny;
    for (int e = 0; e < A.stencil().size(); ++e) {
      const Offset o = A.stencil().offsets()[e];
      const double first = g.contains(i + o.x, j + o.y, k + o.z) ? first_magnitude(A.block(point, e)) : 0;
      if (first > 0) return first;
    }
  }
  return 1;
}

template <class T>
void require_symmetric(const StructMatrix<T>& A) {
  const double far = asymmetry(A);
  // NaN is for the factorization to report, with its row.
  if (!(far > symmetry_tolerance<T>)) return;
  throw Error(
      ErrorCode::symmetry,
      fmt::format("IC needs a symmetric matrix; max|a_ij − a_ji| is {:.3g} of max|a_ij| (Inf: the stencil differs)", far));
}

template <class T>
class StructIlu final : public Ilu<T>::Impl {
 public:
  StructIlu(const StructMatrix<T>& A, const IluOptions& options, bool positive);
  void apply(const Vector<T>& r, Vector<T>& z) const override;
  void refactor(const BlockCsr<T>& A) override { Ilu<T>::Impl::refactor(A); }
  void refactor(const StructMatrix<T>& A) override;
  BlockCsr<T> lower() const override;
  BlockCsr<T> upper() const override;
  std::span<const std::int32_t> order() const override { return order_.span(); }

 private:
  void plan_elimination();
  void factor(const StructMatrix<T>& A);
  void attempt(const StructMatrix<T>& A, const Attempt& attempt);
  double growth();
  BlockCsr<T> triangle(int first_entry, int last_entry) const;
  StructFactors<T> view() const;

  IluOptions options_;
  bool positive_;
  std::string title_;
  Grid grid_;
  Stencil stencil_;
  int dof_;
  std::vector<std::int32_t> first_;
  std::vector<Meeting> meeting_;
  mutable Array<T> values_;  // the kernels' view is one for factoring and sweeping
  Array<std::int32_t> order_;
  Array<T> small_, scratch_;
  mutable Array<T> sum_;
  Array<int> swaps_;
  std::vector<std::uint8_t> inside_;
  StructIluKernels<T> kernels_;
  PivotLog log_;
  double norm_ = 0;
};

template <class T>
StructIlu<T>::StructIlu(const StructMatrix<T>& A, const IluOptions& options, bool positive)
    : options_(options),
      positive_(positive),
      title_(positive ? "IC(0)" : "ILU(0)"),
      grid_(A.grid()),
      stencil_(A.stencil()),
      dof_(A.dof()),
      kernels_(struct_ilu_kernels<T>(A.dof())) {
  Timer timer;
  const std::int64_t points = grid_.points();
  if (points > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::bad_argument, fmt::format("{} grid points: at most 2^31 − 1 can be factored", points));
  }
  const std::int64_t scalars = static_cast<std::int64_t>(A.values().size());
  require_memory((scalars + A.rows()) * static_cast<std::int64_t>(sizeof(T)) + points * 4, title_);
  const std::int64_t b = dof_;
  values_ = Array<T>(scalars);
  order_ = Array<std::int32_t>(points);
  for (std::int64_t i = 0; i < points; ++i) order_[i] = static_cast<std::int32_t>(i);
  small_ = Array<T>(3 * b * b);
  swaps_ = Array<int>(b);
  sum_ = Array<T>(b);
  scratch_ = Array<T>(A.rows());
  inside_.resize(static_cast<std::size_t>(stencil_.size()));
  plan_elimination();
  auto& about = this->report;
  about.name = positive ? "ic" : "ilu";
  about.block = dof_;
  about.kernel = "sequential reference, " + shapes::kernel_name(dof_);
  about.schedule = "sequential";
  about.levels = points;
  about.fill_ratio = 1;
  about.bytes = values_.bytes() + order_.bytes() + scratch_.bytes();
  about.bad_pivots.reserve(PivotLog::kept);
  about.symbolic_seconds = timer.seconds();
  factor(A);
}

template <class T>
void StructIlu<T>::plan_elimination() {
  const auto offsets = stencil_.offsets();
  first_.assign(1, 0);
  for (int m = 0; m < stencil_.center(); ++m) {
    for (int u = stencil_.center() + 1; u < stencil_.size(); ++u) {
      const int target =
          stencil_.find({offsets[m].x + offsets[u].x, offsets[m].y + offsets[u].y, offsets[m].z + offsets[u].z});
      if (target >= 0) meeting_.push_back({u, target});
    }
    first_.push_back(static_cast<std::int32_t>(meeting_.size()));
  }
}

template <class T>
StructFactors<T> StructIlu<T>::view() const {
  return {{grid_, stencil_.offsets(), stencil_.center(), first_, meeting_}, dof_, values_.data()};
}

template <class T>
void StructIlu<T>::factor(const StructMatrix<T>& A) {
  Timer timer;
  this->report.remarks.clear();
  factor_with_policy(
      options_, positive_, title_, log_, [&](const Attempt& one) { attempt(A, one); }, [&] { return growth(); },
      this->report);
  name_grid_points(grid_, dof_, this->report);
  this->report.numeric_seconds = timer.seconds();
}

template <class T>
void StructIlu<T>::attempt(const StructMatrix<T>& A, const Attempt& attempt) {
  const PivotRules rules{options_.pivot_tolerance, attempt.shift, attempt.boost, positive_, zero_row_scale(A), &log_};
  StructWorkspace<T> work;
  work.small = small_.data();
  work.swaps = swaps_.data();
  work.product = small_.data() + 2 * std::int64_t{dof_} * dof_;
  work.inside = inside_.data();
  // Blocks outside the grid are never computed; they stay what the matrix has there.
  kernels_.factor(view(), A.values().data(), rules, work);
  norm_ = work.norm;
  log_.record_change(work.change, norm_);
}

template <class T>
double StructIlu<T>::growth() {
  scratch_.fill(1);
  kernels_.lower(view(), scratch_.data(), scratch_.data(), sum_.data());
  kernels_.upper(view(), scratch_.data(), scratch_.data(), sum_.data());
  double largest = 0;
  for (const T value : scratch_) {
    const double size = std::abs(static_cast<double>(value));
    if (!std::isfinite(size)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, size);
  }
  return largest * norm_;
}

template <class T>
void StructIlu<T>::apply(const Vector<T>& r, Vector<T>& z) const {
  const std::int64_t size = grid_.points() * dof_;
  if (r.size() != size) throw_size_mismatch("right-hand side of an ILU", r.size(), size);
  if (z.size() != size) throw_size_mismatch("result of an ILU", z.size(), size);
  kernels_.lower(view(), r.data(), z.data(), sum_.data());
  kernels_.upper(view(), z.data(), z.data(), sum_.data());
}

template <class T>
void StructIlu<T>::refactor(const StructMatrix<T>& A) {
  require_same_shape(A, grid_, stencil_, dof_);
  if (positive_) require_symmetric(A);
  this->report.symbolic_seconds = 0;
  factor(A);
}

template <class T>
BlockCsr<T> StructIlu<T>::triangle(int first_entry, int last_entry) const {
  const auto offsets = stencil_.offsets();
  std::vector<Offset> kept(offsets.begin() + first_entry, offsets.begin() + last_entry);
  const bool has_center = first_entry == stencil_.center();
  const std::int64_t a_block = std::int64_t{dof_} * dof_, points = grid_.points();
  std::vector<std::int64_t> row_start{0};
  std::vector<std::int32_t> column;
  std::vector<T> values;
  std::vector<int> swaps(static_cast<std::size_t>(dof_));
  for (std::int64_t point = 0; point < points; ++point) {
    const std::int64_t i = point % grid_.nx, j = point / grid_.nx % grid_.ny, k = point / grid_.nx / grid_.ny;
    for (std::size_t e = 0; e < kept.size(); ++e) {
      const Offset o = kept[e];
      if (!grid_.contains(i + o.x, j + o.y, k + o.z)) continue;
      column.push_back(static_cast<std::int32_t>(grid_.index(i + o.x, j + o.y, k + o.z)));
      const T* block = values_.data() + ((first_entry + static_cast<std::int64_t>(e)) * points + point) * a_block;
      values.insert(values.end(), block, block + a_block);
      if (e == 0 && has_center) static_cast<void>(invert<0>(dof_, values.data() + (values.size() - a_block), swaps.data()));
    }
    row_start.push_back(static_cast<std::int64_t>(column.size()));
  }
  return BlockCsr<T>(points, points, dof_, Array<std::int64_t>(std::span<const std::int64_t>(row_start)),
                     Array<std::int32_t>(std::span<const std::int32_t>(column)), Array<T>(std::span<const T>(values)));
}

template <class T>
BlockCsr<T> StructIlu<T>::lower() const {
  return triangle(0, stencil_.center());
}

template <class T>
BlockCsr<T> StructIlu<T>::upper() const {
  return triangle(stencil_.center(), stencil_.size());
}

/// Through block CSR: what leaves the stencil's pattern or its order.
template <class T>
class ConvertedIlu final : public Ilu<T>::Impl {
 public:
  ConvertedIlu(const StructMatrix<T>& A, const IluOptions& options, bool positive)
      : grid_(A.grid()),
        stencil_(A.stencil()),
        dof_(A.dof()),
        inner_(positive ? ic(to_block_csr(A), options) : ilu(to_block_csr(A), options)) {
    take_report();
  }
  void apply(const Vector<T>& r, Vector<T>& z) const override { inner_.apply(r, z); }
  void refactor(const BlockCsr<T>& A) override { Ilu<T>::Impl::refactor(A); }
  void refactor(const StructMatrix<T>& A) override {
    require_same_shape(A, grid_, stencil_, dof_);
    static_cast<void>(inner_.refactor(to_block_csr(A)));
    take_report();
  }
  BlockCsr<T> lower() const override { return inner_.lower(); }
  BlockCsr<T> upper() const override { return inner_.upper(); }
  std::span<const std::int32_t> order() const override { return inner_.order(); }

 private:
  void take_report() {
    this->report = inner_.report();
    this->report.remarks.push_back(
        "the structured matrix was converted to block CSR: fill or ordering leave the stencil; refactor allocates the copy");
    name_grid_points(grid_, dof_, this->report);
  }

  Grid grid_;
  Stencil stencil_;
  int dof_;
  Ilu<T> inner_;
};

template <class T>
Ilu<T> make(const StructMatrix<T>& A, const IluOptions& options, bool positive) {
  check_options(options);
  if (options.fill > 0 || options.ordering != Ordering::natural) {
    return Ilu<T>(std::make_unique<ConvertedIlu<T>>(A, options, positive));
  }
  if (positive) require_symmetric(A);
  return Ilu<T>(std::make_unique<StructIlu<T>>(A, options, positive));
}

}  // namespace

template <class T>
Ilu<T> ilu(const StructMatrix<T>& A, const IluOptions& options) {
  return make(A, options, false);
}

template <class T>
Ilu<T> ic(const StructMatrix<T>& A, const IluOptions& options) {
  return make(A, options, true);
}

template Ilu<double> ilu(const StructMatrix<double>&, const IluOptions&);
template Ilu<float> ilu(const StructMatrix<float>&, const IluOptions&);
template Ilu<double> ic(const StructMatrix<double>&, const IluOptions&);
template Ilu<float> ic(const StructMatrix<float>&, const IluOptions&);

}  // namespace echelon
