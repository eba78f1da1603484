// SPDX-License-Identifier: BSD-3-Clause
// ILU(k) and IC(k) of a structured matrix: checks, allocation, look-up, and the order of the steps
//   grown stencil → kernels → schedules → factor by the policy;
// points are the business of factor/ and sweep/. Another ordering leaves the grid: it goes through block CSR, and says so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/factor/grid/narrow_factors.hpp"
#include "echelon/factor/grid/struct_factor.hpp"
#include "echelon/factor/grid_checks.hpp"
#include "echelon/factor/pivots/factor_bounds.hpp"
#include "echelon/factor/pivots/shift_search.hpp"
#include "echelon/factor/work_budget.hpp"
#include "echelon/matrix/vector_checks.hpp"
#include "echelon/precond/ilu/converted_ilu.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/precond/ilu/rows_of_entries.hpp"
#include "echelon/schedule/grid/line_groups.hpp"
#include "echelon/stencil/shapes.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "echelon/sweep/grid/packed_factors.hpp"
#include "echelon/sweep/grid/struct_shared_triangles.hpp"
#include "echelon/sweep/grid/struct_sweep.hpp"
#include "echelon/sweep/grid/struct_sweep_scratch.hpp"
#include "echelon/sweep/iterated/trisolve_note.hpp"

namespace echelon {
namespace {

template <class T>
class StructIlu final : public Ilu<T>::Impl {
 public:
  StructIlu(const StructMatrix<T>& A, const IluOptions& options, bool positive);
  void apply(const Vector<T>& r, Vector<T>& z) const override;
  std::unique_ptr<SharedTriangles<T>> shared_triangles(const Operator<T>& A) const override;
  void refactor(const BlockCsr<T>& A) override { Ilu<T>::Impl::refactor(A); }
  void refactor(const StructMatrix<T>& A) override;
  BlockCsr<T> lower() const override;
  BlockCsr<T> upper() const override;
  std::span<const std::int32_t> order() const override;

 private:
  static constexpr Stored own_kind = sizeof(T) == 8 ? Stored::fp64 : Stored::fp32;
  int entries() const { return static_cast<int>(plan_.offsets.size()); }
  std::int64_t block_scalars() const { return std::int64_t{dof_} * dof_; }
  bool relaxed() const { return options_.omega > 0 && options_.omega != 1; }  // SSOR: M has 1 / (2 − ω) besides
  std::int64_t plane() const { return grid_.points() * block_scalars(); }
  std::int64_t factor_scalars() const { return plan_.diagonal_only ? plane() : entries() * plane_stride(); }
  std::int64_t plane_stride() const;
  std::int64_t operations_a_point() const {
    return (static_cast<std::int64_t>(plan_.pair.size()) + entries()) * block_scalars() * dof_;
  }
  void choose_kernels();
  void allocate();
  void make_schedules();
  void make_workspaces();
  void fill_report();
  void factor(const StructMatrix<T>& A);
  bool narrow_wanted() const { return bytes_of(options_.precision) < static_cast<int>(sizeof(T)); }
  void make_room();
  void store_narrow();
  void attempt(const StructMatrix<T>& A, const Attempt& attempt);
  void place_planes(const StructMatrix<T>& A);
  void place_triangles();
  double growth();
  void sweep(const T* r, T* x) const;
  const T* plane_of(int entry) const;
  BlockCsr<T> triangle(int first_entry, int last_entry) const;

  IluOptions options_;
  bool positive_;
  std::string title_;
  Grid grid_;
  Stencil stencil_;  // A's
  int dof_;
  EliminationPlan plan_;  // on the stencil grown by the fill
  StructFactorKernel<T> factor_kernel_;
  StructSweepKernels<T> sweeps_;
  Array<T> factors_;                        // planes of L and U in the order of the stencil; only D⁻¹ when diagonal_only
  std::shared_ptr<const Array<T>> shared_;  // A's values, when the factors are A's own off the diagonal
  std::vector<const T*> from_;              // A's plane an entry, or null
  std::vector<T*> to_;                      // the factors' plane an entry
  T* inverse_ = nullptr;
  std::vector<TriangleEntry> lower_entries_, upper_entries_;
  PackedFactors<T> packs_;   // of wide stencils, beside the planes
  NarrowFactors<T> narrow_;  // when they are kept narrower than T; then L and U are found here
  bool by_lines_ = false;    // fast kernels, or point by point
  LineGroups factor_groups_, lower_groups_, upper_groups_;
  GroupProgress factor_progress_;
  std::vector<StructFactorWorkspace<T>> workspaces_;
  Array<T> rows_, small_;
  Array<int> swaps_;
  StructSweepSize sweep_size_{};
  LentScratch<StructSweepScratch> sweep_scratch_;
  mutable std::once_flag order_made_;
  mutable Array<std::int32_t> order_;
  PivotLog log_;
  double norm_ = 0;
};

template <class T>
StructIlu<T>::StructIlu(const StructMatrix<T>& A, const IluOptions& options, bool positive)
    : options_(options),
      positive_(positive),
      title_(options.omega > 0 ? fmt::format("SSOR({:g})", options.omega)
                               : fmt::format("{}({})", positive ? "IC" : "ILU", options.fill)),
      grid_(A.grid()),
      stencil_(A.stencil()),
      dof_(A.dof()),
      plan_(options.omega > 0 ? EliminationPlan::without_products(stencil_)
                              : EliminationPlan(grown(stencil_, options.fill))) {
  Timer timer;
  if (grid_.points() > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::bad_argument, fmt::format("{} grid points: at most 2^31 − 1 can be factored", grid_.points()));
  }
  choose_kernels();
  if (options_.fill > 0) WorkBudget(title_, options_.most_operations).spend(operations_a_point() * grid_.points());
  allocate();
  make_schedules();
  make_workspaces();
  fill_report();
  this->report.symbolic_seconds = timer.seconds();
  factor(A);
}

/// Again whenever the kind of storage changes; the shape of the groups of lines does not.
template <class T>
void StructIlu<T>::choose_kernels() {
  const bool few_along = plan_.center - plan_.along_begin <= most_along && plan_.along_end - plan_.center - 1 <= most_along;
  const Stored stored = narrow_.empty() ? own_kind : narrow_.stored();
  factor_kernel_ = point_struct_factor<T>(dof_);
  sweeps_ = point_struct_sweep<T>(dof_);
  by_lines_ = false;
  if (options_.schedule != SweepSchedule::sequential) {
    if (dof_ == 1 && few_along) {
      factor_kernel_ = scalar_struct_factor<T>(plan_.diagonal_only);
      sweeps_ = scalar_struct_sweep<T>(stored, narrow_wanted() && entries() <= 2 * narrow_triangle + 1 ? 2 : 1);
      by_lines_ = true;
    } else if (const auto sweeps = block_struct_sweep<T>(dof_, stored); sweeps.lower) {
      factor_kernel_ = block_struct_factor<T>(dof_);
      sweeps_ = sweeps;
      by_lines_ = true;
    }
  }
  this->report.kernel = (by_lines_ ? "lines, " : "points, ") + shapes::kernel_name(dof_);
}

/// From one plane of the factors to the next. On grids with sides like 64 or 160 the planes would lie a multiple of 4 KiB
/// apart, and a point's entries would all want the same few places of the cache; an odd number of cache lines more spreads
/// them.
template <class T>
std::int64_t StructIlu<T>::plane_stride() const {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T)), spread = 37, large = 4096 * line;
  return plane() < large ? plane() : (plane() + line - 1) / line * line + spread * line;
}

template <class T>
void StructIlu<T>::allocate() {
  const std::int64_t kept = narrow_wanted() ? entries() * bytes_of(options_.precision) : 0;
  require_memory(factor_scalars() * static_cast<std::int64_t>(sizeof(T)) + kept * plane(), title_);
  from_.resize(plan_.offsets.size());
  to_.resize(plan_.offsets.size());
  make_room();
  lower_entries_.resize(static_cast<std::size_t>(plan_.center));
  upper_entries_.resize(plan_.offsets.size() - static_cast<std::size_t>(plan_.center) - 1);
}

/// The planes the elimination writes; narrow storage gives them back when it is done.
template <class T>
void StructIlu<T>::make_room() {
  if (factors_.size() != factor_scalars()) factors_ = Array<T>(factor_scalars());
  inverse_ = factors_.data() + (plan_.diagonal_only ? 0 : plan_.center * plane_stride());
  for (int e = 0; e < entries(); ++e)
    to_[static_cast<std::size_t>(e)] = plan_.diagonal_only ? nullptr : factors_.data() + e * plane_stride();
}

template <class T>
void StructIlu<T>::make_schedules() {
  // Each of the two sweeps reads half of the entries.
  const std::int64_t work = grid_.points() * entries() * block_scalars() / 2;
  const int team = options_.schedule == SweepSchedule::sequential ? 1 : threads_for(work);
  const std::span<const Offset> offsets(plan_.offsets);
  std::vector<Offset> mirrored;
  for (const Offset& o : offsets.subspan(static_cast<std::size_t>(plan_.center) + 1)) mirrored.push_back({-o.x, -o.y, -o.z});
  const auto earlier = offsets.first(static_cast<std::size_t>(plan_.center));
  factor_groups_ = LineGroups(grid_, earlier, factor_kernel_.shape, team);
  lower_groups_ = LineGroups(grid_, earlier, sweeps_.shape, team);
  upper_groups_ = LineGroups(grid_, mirrored, sweeps_.shape, team);
  factor_progress_ = GroupProgress(factor_groups_.groups());
}

template <class T>
void StructIlu<T>::make_workspaces() {
  constexpr std::int64_t alignment = 64;
  const std::int64_t team = factor_groups_.threads(), bb = block_scalars(), e = entries();
  const std::int64_t row = std::max(bb, e * factor_kernel_.row_scalars);
  const std::int64_t spaced = (row * static_cast<std::int64_t>(sizeof(T)) + alignment - 1) / alignment * alignment /
                              static_cast<std::int64_t>(sizeof(T));
  workspaces_.resize(static_cast<std::size_t>(team));
  rows_ = Array<T>(team * spaced);
  small_ = Array<T>(team * 2 * bb);
  swaps_ = Array<int>(team * dof_);
  for (std::int64_t t = 0; t < team; ++t) {
    auto& own = workspaces_[static_cast<std::size_t>(t)];
    own.rows = rows_.data() + t * spaced;
    own.small = small_.data() + t * 2 * bb;
    own.swaps = swaps_.data() + t * dof_;
    own.targets.reserve(plan_.offsets.size());
    own.pairs.reserve(plan_.pair.size());
    own.inside.resize(static_cast<std::size_t>(e * factor_kernel_.shape.lines));
  }
  const std::int64_t bytes = (sweep_scratch_bytes(sweeps_.shape.lines, e, dof_) + alignment - 1) / alignment * alignment;
  sweep_size_ = {&lower_groups_, &upper_groups_, bytes};
  sweep_scratch_.own().fit(sweep_size_);
}

template <class T>
void StructIlu<T>::fill_report() {
  auto& about = this->report;
  name_levels(about, positive_);
  name_relaxation(options_.omega, about);
  about.fill = options_.fill;
  about.block = dof_;
  about.factor_kernel = about.kernel + (by_lines_ && dof_ == 1 && plan_.diagonal_only ? ", diagonal only" : "");
  about.schedule = lower_groups_.threads() > 1 ? "groups of lines" : "sequential";
  about.levels = lower_groups_.groups() * grid_.nz;
  about.fill_ratio = static_cast<double>(neighbours_inside(grid_, plan_.offsets)) /
                     static_cast<double>(neighbours_inside(grid_, stencil_.offsets()));
  about.bad_pivots.reserve(PivotLog::kept);
  note_exact_sweeps(options_.trisolve, grid_sweeps_are_exact, about);
}

template <class T>
void StructIlu<T>::place_planes(const StructMatrix<T>& A) {
  for (int e = 0; e < entries(); ++e) {
    const int source = A.stencil().find(plan_.offsets[static_cast<std::size_t>(e)]);
    from_[static_cast<std::size_t>(e)] = source < 0 ? nullptr : A.values().data() + source * plane();
  }
}

/// Where the sweeps find L and U, the farthest entry first.
template <class T>
void StructIlu<T>::place_triangles() {
  const auto entry = [&](int e) {
    return TriangleEntry{plan_.offsets[static_cast<std::size_t>(e)], narrow_.empty() ? plane_of(e) : narrow_.plane(e)};
  };
  const int last = entries() - 1;
  for (int e = 0; e < plan_.center; ++e) lower_entries_[static_cast<std::size_t>(e)] = entry(e);
  for (int e = last; e > plan_.center; --e) upper_entries_[static_cast<std::size_t>(last - e)] = entry(e);
}

/// What is stored for an entry off the diagonal: the factors', or A's where L is scaled on the way.
template <class T>
const T* StructIlu<T>::plane_of(int entry) const {
  return plan_.diagonal_only ? from_[static_cast<std::size_t>(entry)] : to_[static_cast<std::size_t>(entry)];
}

template <class T>
void StructIlu<T>::factor(const StructMatrix<T>& A) {
  Timer timer;
  this->report.remarks.clear();
  this->report.ok = false;  // while the factors are neither the old ones nor the new
  if (plan_.diagonal_only) shared_ = A.share_values();
  make_room();
  narrow_.release();
  packs_.forget();
  choose_kernels();
  place_planes(A);
  place_triangles();
  factor_with_policy(
      options_, positive_, title_, log_, [&](const Attempt& one) { attempt(A, one); }, [&] { return growth(); },
      this->report,
      AttemptCost{[this] { return static_cast<double>(operations_a_point()) * static_cast<double>(grid_.points()); },
                  nullptr});
  name_grid_points(grid_, dof_, this->report);
  if (this->report.ok && narrow_wanted()) store_narrow();
  if (this->report.ok && by_lines_ && narrow_.empty() &&
      packs_.store({grid_, lower_entries_, inverse_, plan_.diagonal_only, dof_, 0},
                   {grid_, upper_entries_, inverse_, false, dof_, 0})) {
    sweeps_ = packed_struct_sweep<T>();
    this->report.kernel = "packs, " + shapes::kernel_name(dof_);
  }
  this->report.precision = word(narrow_.empty() ? own_kind : narrow_.stored());
  this->report.bytes = factors_.bytes() + packs_.bytes() + narrow_.bytes() + lower_groups_.bytes() + upper_groups_.bytes() +
                       factor_groups_.bytes();
  this->report.numeric_seconds = timer.seconds();
}

/// Keeps the factors as asked for, or in FP32 when values leave that range, and says so.
template <class T>
void StructIlu<T>::store_narrow() {
  auto& remarks = this->report.remarks;
  if (!by_lines_) {
    remarks.push_back(
        fmt::format("the factors are kept in {}: narrow storage has no kernel for this shape", word(own_kind)));
    return;
  }
  std::vector<const T*> planes;
  for (int e = 0; e < entries(); ++e) planes.push_back(plane_of(e));
  Stored kind = options_.precision;
  for (;;) {
    const std::int64_t lost = narrow_.store({plan_, grid_, dof_, planes.data(), inverse_}, norm_, kind);
    if (lost == 0) break;
    remarks.push_back(fmt::format("{} values of the factors leave the range of {}", lost, word(kind)));
    if (kind == Stored::fp32 || bytes_of(Stored::fp32) >= static_cast<int>(sizeof(T))) return narrow_.release();
    kind = Stored::fp32;
  }
  choose_kernels();
  place_triangles();
  if (plan_.diagonal_only) return;
  factors_ = Array<T>();
  remarks.emplace_back("refactor allocates the wide factors again while it works");
}

template <class T>
void StructIlu<T>::attempt(const StructMatrix<T>& A, const Attempt& attempt) {
  const StructFactorView<T> view{
      &plan_,
      grid_,
      dof_,
      from_.data(),
      to_.data(),
      inverse_,
      {options_.pivot_tolerance, attempt.shift, attempt.boost, positive_, zero_row_scale(A), &log_},
      factor_groups_.lag()};
  for (auto& own : workspaces_) own.clear();
  SharedWork shared;
  const std::int64_t a_step = operations_a_point() * factor_kernel_.shape.width;
  run_groups(factor_groups_, factor_progress_, [&](const LineWork& work, int thread) {
    // Told to stop, a thread leaves lines out and still says that it passed them: nobody waits for ever.
    if (!shared.goes_on(a_step * work.lines * (work.end - work.begin))) return;
    factor_kernel_.lines(view, work, workspaces_[static_cast<std::size_t>(thread)]);
  });
  shared.finish();
  double change = 0;
  norm_ = 0;
  for (const auto& own : workspaces_) {
    change = std::max(change, own.change);
    norm_ = std::max(norm_, own.norm);
    for (const double sum : own.norms) norm_ = std::max(norm_, sum);
  }
  log_.record_change(change, norm_);
  if (!relaxed()) return;
  for (std::int64_t s = 0; s < plane(); ++s) inverse_[s] *= static_cast<T>(options_.omega);
}

template <class T>
double StructIlu<T>::growth() {
  // A bound below what anybody asks about answers without two sweeps.
  constexpr double unknown = std::numeric_limits<double>::infinity();
  const double bound =
      factor_kernel_.bounds && !relaxed() ? inverse_bound(std::span<const StructFactorWorkspace<T>>(workspaces_)) : unknown;
  return growth_by(bound, norm_, [this] {
    // Of SSOR without its 2 − ω, at most 2. Not kept: it would be one vector more in every solve.
    Array<T> probe(grid_.points() * dof_, T{1});
    sweep(probe.data(), probe.data());
    double largest = 0;
    for (const T value : probe) {
      const double size = std::abs(static_cast<double>(value));
      if (!std::isfinite(size)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, size);
    }
    return largest;
  });
}

template <class T>
void StructIlu<T>::sweep(const T* r, T* x) const {
  auto loan = borrow(sweep_scratch_, sweep_size_);
  StructSweepScratch& own = *loan;
  const auto scratch = [&](int thread) { return own.memory.data() + thread * sweep_size_.bytes_a_thread; };
  const bool wide = narrow_.empty();
  const void* inverse = wide ? inverse_ : narrow_.plane(plan_.center);
  const bool scaled = wide && plan_.diagonal_only;
  const StructTriangle L{grid_, lower_entries_,      inverse,           scaled,
                         dof_,  lower_groups_.lag(), narrow_.r_scale(), packs_.lower()};
  run_groups(lower_groups_, own.lower, [&](const LineWork& work, int thread) {
    sweeps_.lower(L, work, {r, x}, scratch(thread));
  });
  const StructTriangle U{grid_, upper_entries_, inverse, false, dof_, upper_groups_.lag(), 1, packs_.upper()};
  run_groups(upper_groups_, own.upper, [&](const LineWork& work, int thread) {
    sweeps_.upper(U, work, {x, x}, scratch(thread));
  });
}

template <class T>
void StructIlu<T>::apply(const Vector<T>& r, Vector<T>& z) const {
  const std::int64_t size = grid_.points() * dof_;
  if (r.size() != size) throw_size_mismatch("right-hand side of an ILU", r.size(), size);
  if (z.size() != size) throw_size_mismatch("result of an ILU", z.size(), size);
  sweep(r.data(), z.data());
  if (!relaxed()) return;
#pragma omp parallel for num_threads(threads_for(size)) schedule(static)
  for (std::int64_t i = 0; i < size; ++i) z[i] *= static_cast<T>(2 - options_.omega);
}

template <class T>
std::unique_ptr<SharedTriangles<T>> StructIlu<T>::shared_triangles(const Operator<T>& A) const {
  const auto* matrix = dynamic_cast<const StructMatrix<T>*>(&A);
  if (dof_ != 1 || !shared_ || relaxed() || narrow_wanted() || !matrix || matrix->share_values() != shared_) return nullptr;
  const SharedTriangleArrays<T> arrays{grid_, lower_entries_, inverse_, from_[static_cast<std::size_t>(plan_.center)]};
  return struct_shared_triangles<T>(
      {arrays, upper_entries_, sweeps_, sweep_size_, &sweep_scratch_, packs_.lower(), packs_.upper()});
}

template <class T>
void StructIlu<T>::refactor(const StructMatrix<T>& A) {
  require_same_shape(A, grid_, stencil_, dof_);
  if (positive_) require_symmetric(A);
  this->report.symbolic_seconds = 0;
  factor(A);
}

template <class T>
std::span<const std::int32_t> StructIlu<T>::order() const {
  std::call_once(order_made_, [this] {
    order_ = Array<std::int32_t>(grid_.points());
    std::iota(order_.begin(), order_.end(), 0);
  });
  return order_.span();
}

template <class T>
BlockCsr<T> StructIlu<T>::triangle(int first_entry, int last_entry) const {
  const std::int64_t bb = block_scalars();
  std::vector<int> swaps(static_cast<std::size_t>(dof_));
  const auto write = [&](int e, std::int64_t point, std::int64_t other, T* to) {
    const T* block = e == plan_.center ? inverse_ : plane_of(e);
    for (std::int64_t v = 0; v < bb; ++v) to[v] = narrow_.empty() ? block[point * bb + v] : narrow_.value(e, point * bb + v);
    if (e == plan_.center) static_cast<void>(invert<0>(dof_, to, swaps.data()));
    if (e < plan_.center && plan_.diagonal_only && narrow_.empty()) {
      block_product<0>(dof_, block + point * bb, inverse_ + other * bb, to);
    }
    if (relaxed() && e >= plan_.center) std::for_each(to, to + bb, [&](T& u) { u /= static_cast<T>(2 - options_.omega); });
  };
  return rows_of_entries<T>(grid_, std::span(plan_.offsets), {first_entry, last_entry}, dof_, write);
}

template <class T>
BlockCsr<T> StructIlu<T>::lower() const {
  return triangle(0, plan_.center);
}

template <class T>
BlockCsr<T> StructIlu<T>::upper() const {
  return triangle(plan_.center, entries());
}

template <class T>
Ilu<T> make(const StructMatrix<T>& A, const IluOptions& options, bool positive) {
  check_options(options);
  if (options.ordering != Ordering::natural || options.factor_sweeps > 0 || iterates(options.trisolve) ||
      !can_grow(A.stencil(), options.fill)) {
    const FactorCsr<T> of_rows[] = {ilu<T>, ic<T>};
    return Ilu<T>(converted_ilu<T>(A, options, of_rows[positive]));
  }
  if (positive) require_elimination(options, "IC");
  if (positive) require_symmetric(A);
  return Ilu<T>(std::make_unique<StructIlu<T>>(A, options, positive));
}

}  // namespace

template <class T>
Ilu<T> ilu(const StructMatrix<T>& A, const IluOptions& options) {
  return make(A, options, false);
}

template <class T>
Ilu<T> sgs(const StructMatrix<T>& A, double omega, IluOptions options) {
  options.omega = checked_omega(omega);
  return make(A, options, false);
}

template <class T>
Ilu<T> ic(const StructMatrix<T>& A, const IluOptions& options) {
  return make(A, options, true);
}

template Ilu<double> ilu(const StructMatrix<double>&, const IluOptions&);
template Ilu<float> ilu(const StructMatrix<float>&, const IluOptions&);
template Ilu<double> sgs(const StructMatrix<double>&, double, IluOptions);
template Ilu<float> sgs(const StructMatrix<float>&, double, IluOptions);
template Ilu<double> ic(const StructMatrix<double>&, const IluOptions&);
template Ilu<float> ic(const StructMatrix<float>&, const IluOptions&);

}  // namespace echelon
