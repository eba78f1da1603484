// SPDX-License-Identifier: BSD-3-Clause
// Elimination of scalar stencils, eight points of a line a step: entries of other lines with lanes over points, the entries
// of the own line (and the pivots) one point after the other, then what the own line's L does to the upper entries, again
// with lanes over points. Bytes a point: 8 an entry read and (unless diagonal_only) written, and 8 for D⁻¹.
// Reads are safe: a neighbour outside the grid is dropped with its line, or its lanes are neither loaded nor used.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/struct_factor_scalar.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "echelon/base/simd.inl"
#include "echelon/factor/struct_factor.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr int factor_width = 8, factor_lines = 4;
constexpr std::int64_t not_there = std::numeric_limits<std::int64_t>::min();

/// Eight points [i0, i0 + 8) of a line. `edge`: some neighbour or point of them may lie outside the line.
template <bool edge, class T>
class FactorStep {
 public:
  // Lanes are counted in doubles, since row sums are; T may be narrower.
  using Wide = hn::CappedTag<double, factor_width>;
  using D = hn::Rebind<T, Wide>;
  using V = hn::Vec<D>;

  FactorStep(const StructFactorView<T>& view, const std::int64_t* moved, std::int64_t base, std::int64_t i0,
             StructFactorWorkspace<T>& own)
      : view_(view), plan_(*view.plan), moved_(moved), base_(base), i0_(i0), nx_(view.grid.nx), own_(own) {
    from_ = edge ? static_cast<int>(std::max<std::int64_t>(0, -i0)) : 0;
    to_ = edge ? static_cast<int>(std::min<std::int64_t>(factor_width, nx_ - i0)) : factor_width;
  }

  void run() {
    for (std::int64_t v = 0; v < factor_width; v += lanes()) measure(v);
    for (std::int64_t v = 0; v < factor_width; v += lanes()) across(v);
    if (plain_recurrence()) {
      recur_plain();
    } else {
      recur();
    }
    for (std::int64_t v = 0; v < factor_width; v += lanes()) finish(v);
  }

 private:
  static std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(D())); }
  bool there(int e) const { return moved_[e] != not_there; }
  int shift_of(int e) const { return plan_.offsets[static_cast<std::size_t>(e)].x; }
  std::int64_t begin(std::int64_t v, std::int64_t shift) const {
    return std::clamp<std::int64_t>(-(i0_ + v) - std::min<std::int64_t>(shift, 0), 0, lanes());
  }
  std::int64_t end(std::int64_t v, std::int64_t shift) const {
    return std::max(begin(v, shift),
                    std::clamp<std::int64_t>(nx_ - (i0_ + v) - std::max<std::int64_t>(shift, 0), 0, lanes()));
  }
  /// The step's vector at v of what begins at p for i = 0; lanes without neighbour `shift` are 0.
  V load(const T* p, std::int64_t v, int shift) const {
    if constexpr (edge) return load_lanes(D(), p + i0_ + v, begin(v, shift), end(v, shift));
    return hn::LoadU(D(), p + i0_ + v);
  }
  V buffered(int e, std::int64_t v) const { return hn::Load(D(), own_.rows + e * factor_width + v); }
  void buffer(V value, int e, std::int64_t v) const { hn::Store(value, D(), own_.rows + e * factor_width + v); }
  T* buffered_row(int e) const { return own_.rows + e * factor_width; }
  void store(V value, T* p, std::int64_t v) const {
    if constexpr (edge) {
      HWY_ALIGN T kept[factor_width];
      hn::Store(value, D(), kept);
      for (std::int64_t lane = begin(v, 0); lane < end(v, 0); ++lane) p[i0_ + v + lane] = kept[lane];
    } else {
      hn::StoreU(value, D(), p + i0_ + v);
    }
  }
  V from_A(int e, std::int64_t v) const { return view_.A[e] ? load(view_.A[e] + base_, v, shift_of(e)) : hn::Zero(D()); }
  const T* upper(int e) const { return plan_.diagonal_only ? view_.A[e] : view_.F[e]; }

  /// Largest |a| and Σ|a| of every row; a row that is not finite is looked at by itself.
  void measure(std::int64_t v) {
    V scale = hn::Zero(D());
    const Wide wide;
    auto sum = hn::Zero(wide);
    const int entries = static_cast<int>(plan_.offsets.size());
    for (int e = 0; e < entries; ++e) {
      if (!there(e) || !view_.A[e]) continue;
      const V size = hn::Abs(from_A(e, v));
      // As a comparison: a NaN leaves the scale as it is, like the reference.
      scale = hn::IfThenElse(hn::Gt(size, scale), size, scale);
      if constexpr (sizeof(T) == sizeof(double)) {
        sum = hn::Add(sum, size);
      } else {
        sum = hn::Add(sum, hn::PromoteTo(wide, size));
      }
    }
    hn::Store(scale, D(), scale_ + v);
    hn::Store(sum, wide, sum_ + v);
    const auto finite = hn::Le(sum, hn::Set(wide, std::numeric_limits<double>::max()));
    if (HWY_LIKELY(hn::AllTrue(wide, finite))) {
      hn::Store(hn::Max(hn::Load(wide, own_.norms + v), sum), wide, own_.norms + v);
      for (std::int64_t lane = v; lane < v + lanes(); ++lane) nonfinite_[lane] = false;
      return;
    }
    for (std::int64_t lane = std::max<std::int64_t>(v, from_); lane < std::min<std::int64_t>(v + lanes(), to_); ++lane) {
      note_row_sum(view_.rules, place(static_cast<int>(lane)), sum_[lane], own_, [&] { return row_is_nonfinite(lane); });
      nonfinite_[lane] = own_.row_nonfinite;
    }
  }

  bool row_is_nonfinite(std::int64_t lane) const {
    for (int e = 0; e < static_cast<int>(plan_.offsets.size()); ++e) {
      const std::int64_t at = i0_ + lane + shift_of(e);
      if (!there(e) || !view_.A[e] || at < 0 || at >= nx_) continue;
      if (!(magnitude(view_.A[e][base_ + i0_ + lane]) <= std::numeric_limits<T>::max())) return true;
    }
    return false;
  }

  PivotPlace place(int lane) const { return {base_ + i0_ + lane, base_ + i0_ + lane}; }

  /// w_t ← w_t − Σ L_m U_u over the pairs of t whose m lies on another line, or on this one.
  V eliminate(V w, int t, std::int64_t v, bool own_line) const {
    for (const auto [m, u] : plan_.pairs(t)) {
      if (!there(m) || (m >= plan_.along_begin) != own_line) continue;
      const V U = neighbours_upper(u, m, t, v);
      const V next = hn::NegMulAdd(buffered(m, v), U, w);
      if constexpr (edge) {
        const auto before =
            hn::FirstN(D(), static_cast<std::size_t>(std::max(begin(v, shift_of(m)), begin(v, shift_of(t)))));
        const auto until = hn::FirstN(D(), static_cast<std::size_t>(std::min(end(v, shift_of(m)), end(v, shift_of(t)))));
        w = hn::IfThenElse(hn::AndNot(before, until), next, w);
      } else {
        w = next;
      }
    }
    return w;
  }

  /// U_u at neighbour m; only lanes that have both m and t, since then u of m is t.
  V neighbours_upper(int u, int m, int t, std::int64_t v) const {
    const T* p = upper(u) + moved_[m] + i0_ + v;
    if constexpr (edge) {
      const auto low = std::max(begin(v, shift_of(m)), begin(v, shift_of(t)));
      return load_lanes(D(), p, low, std::max(low, std::min(end(v, shift_of(m)), end(v, shift_of(t)))));
    }
    return hn::LoadU(D(), p);
  }

  /// Lower entries of other lines are finished; those of the own line are left where the other lines' part ends.
  void across(std::int64_t v) {
    V sum = hn::Zero(D());
    for (int t = 0; t < plan_.along_begin; ++t) {
      if (!there(t)) {
        if (!plan_.diagonal_only) store(hn::Zero(D()), view_.F[t] + base_, v);
        continue;
      }
      const V w = eliminate(from_A(t, v), t, v, false);
      const V L = hn::Mul(w, load(view_.inverse + moved_[t], v, shift_of(t)));
      buffer(L, t, v);
      sum = hn::Add(sum, hn::Abs(L));
      if (!plan_.diagonal_only) store(L, view_.F[t] + base_, v);
    }
    hn::Store(sum, D(), lower_sum_ + v);
    for (int t = plan_.along_begin; t < plan_.along_end; ++t) {
      const V a = t == plan_.center && view_.rules.shift > 0 ? shifted_diagonal(v) : from_A(t, v);
      buffer(eliminate(a, t, v, false), t, v);
    }
  }

  V shifted_diagonal(std::int64_t v) const {
    buffer(from_A(plan_.center, v), plan_.center, v);
    T* diagonal = buffered_row(plan_.center) + v;
    for (std::int64_t lane = begin(v, 0); lane < end(v, 0); ++lane) {
      diagonal[lane] = shifted(view_.rules, diagonal[lane], scale_[v + lane], own_);
    }
    return buffered(plan_.center, v);
  }

  bool plain_recurrence() const {
    if (edge || plan_.center - plan_.along_begin != 1 || shift_of(plan_.along_begin) != -1) return false;
    const int up = plan_.along_end - plan_.center - 1;
    return up == 0 || (up == 1 && shift_of(plan_.center + 1) == 1);
  }

  T inverse_of(T pivot, int lane) {
    if (HWY_UNLIKELY(!pivot_is_good(view_.rules, pivot, scale_[lane]))) {
      own_.row_nonfinite = nonfinite_[lane];
      pivot = repaired_pivot(view_.rules, place(lane), pivot, scale_[lane], own_);
    }
    return T(1) / pivot;
  }

  /// One lower entry, at −1, and at most the upper one at +1: a chain of one product and one division.
  void recur_plain() {
    const int m = plan_.along_begin, c = plan_.center;
    const bool has_upper = plan_.along_end > c + 1 && there(c + 1);
    T* L = buffered_row(m);
    const T* diagonal = buffered_row(c);
    const T* U = has_upper ? buffered_row(c + 1) : nullptr;
    T* inverse = view_.inverse + base_ + i0_;
    T last = inverse[-1], last_upper = has_upper ? upper(c + 1)[base_ + i0_ - 1] : T(0);
    for (int lane = 0; lane < factor_width; ++lane) {
      const T l = L[lane] * last;
      L[lane] = l;
      T pivot = diagonal[lane];
      if (has_upper) {
        pivot = fma(-l, last_upper, pivot);
        last_upper = U[lane];
      }
      inverse[lane] = last = inverse_of(pivot, lane);
    }
  }

  void recur() {
    const int c = plan_.center;
    for (int lane = from_; lane < to_; ++lane) {
      const std::int64_t i = i0_ + lane;
      const auto inside = [&](int e) { return i + shift_of(e) >= 0 && i + shift_of(e) < nx_; };
      for (int t = plan_.along_begin; t < plan_.along_end; ++t) {
        if (!inside(t)) continue;
        T w = buffered_row(t)[lane];
        for (const auto [m, u] : plan_.pairs(t)) {
          if (m < plan_.along_begin || !inside(m)) continue;
          w = fma(-buffered_row(m)[lane], upper(u)[base_ + i + shift_of(m)], w);
        }
        if (t < c) w *= view_.inverse[base_ + i + shift_of(t)];
        buffered_row(t)[lane] = w;
        if (t == c) view_.inverse[base_ + i] = inverse_of(w, lane);
        // Later points of this step look for it in the factors.
        if (t > c && !plan_.diagonal_only) view_.F[t][base_ + i] = w;
      }
    }
  }

  /// What is left of the upper part, the stores of the own line, and the bounds.
  void finish(std::int64_t v) {
    V lower = hn::Load(D(), lower_sum_ + v), above = hn::Zero(D());
    for (int t = plan_.along_begin; t < plan_.along_end; ++t) {
      if (t == plan_.center) continue;
      const V value = buffered(t, v);
      (t < plan_.center ? lower : above) = hn::Add(t < plan_.center ? lower : above, hn::Abs(value));
      if (!plan_.diagonal_only) store(value, view_.F[t] + base_, v);
    }
    for (const int t : plan_.across_up) {
      V w = there(t) ? from_A(t, v) : hn::Zero(D());
      if (there(t) && !plan_.diagonal_only) w = eliminate(eliminate(w, t, v, false), t, v, true);
      above = hn::Add(above, hn::Abs(w));
      if (!plan_.diagonal_only) store(w, view_.F[t] + base_, v);
    }
    const V inverse = hn::Abs(load(view_.inverse + base_, v, 0));
    above = hn::Mul(above, inverse);
    raise(own_.lower_sums, lower, v);
    raise(own_.upper_sums, above, v);
    raise(own_.inverses, inverse, v);
    // 0·x is NaN for what is not finite, and stays so in a sum.
    const V poison = hn::MulAdd(hn::Zero(D()), hn::Add(lower, above), hn::Load(D(), own_.poison + v));
    hn::Store(poison, D(), own_.poison + v);
  }

  static void raise(T* largest, V value, std::int64_t v) {
    hn::Store(hn::Max(hn::Load(D(), largest + v), value), D(), largest + v);
  }

  const StructFactorView<T>& view_;
  const EliminationPlan& plan_;
  const std::int64_t* moved_;
  const std::int64_t base_, i0_, nx_;
  StructFactorWorkspace<T>& own_;
  int from_, to_;
  HWY_ALIGN T scale_[factor_width], lower_sum_[factor_width];
  HWY_ALIGN double sum_[factor_width];
  bool nonfinite_[factor_width];
};

/// Where neighbour e of line j of plane k begins (its point for i = 0), or not_there.
template <class T>
void find_lines(const StructFactorView<T>& view, std::int64_t j, std::int64_t k, std::int64_t* moved) {
  const Grid& g = view.grid;
  for (std::size_t e = 0; e < view.plan->offsets.size(); ++e) {
    const Offset o = view.plan->offsets[e];
    const bool inside = j + o.y >= 0 && j + o.y < g.ny && k + o.z >= 0 && k + o.z < g.nz;
    moved[e] = inside ? ((k + o.z) * g.ny + j + o.y) * g.nx + o.x : not_there;
  }
}

template <class T>
void factor_lines_of(const StructFactorView<T>& view, const LineWork& work, StructFactorWorkspace<T>& own) {
  const Grid& g = view.grid;
  const std::int64_t entries = static_cast<std::int64_t>(view.plan->offsets.size());
  const std::int64_t blocks = (g.nx + factor_width - 1) / factor_width;
  std::int64_t left = 0, right = 0;
  for (const Offset& o : view.plan->offsets) {
    left = std::max<std::int64_t>(left, -o.x);
    right = std::max<std::int64_t>(right, o.x);
  }
  for (int l = 0; l < work.lines; ++l) find_lines(view, work.line + l, work.plane, own.moved + l * entries);
  for (std::int64_t s = work.begin; s < work.end; ++s) {
    for (int l = 0; l < work.lines; ++l) {
      const std::int64_t n = s - std::int64_t{view.lag} * l;
      if (n < 0 || n >= blocks) continue;
      const std::int64_t i0 = n * factor_width, base = (work.plane * g.ny + work.line + l) * g.nx;
      if (i0 >= left && i0 + factor_width + right <= g.nx) {
        FactorStep<false, T>(view, own.moved + l * entries, base, i0, own).run();
      } else {
        FactorStep<true, T>(view, own.moved + l * entries, base, i0, own).run();
      }
    }
  }
}

StructFactorKernel<double> scalar_factor_double() { return {&factor_lines_of<double>, {factor_lines, factor_width}, true}; }
StructFactorKernel<float> scalar_factor_float() { return {&factor_lines_of<float>, {factor_lines, factor_width}, true}; }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(scalar_factor_double);
HWY_EXPORT(scalar_factor_float);

template <>
StructFactorKernel<double> scalar_struct_factor<double>() {
  return HWY_DYNAMIC_DISPATCH(scalar_factor_double)();
}
template <>
StructFactorKernel<float> scalar_struct_factor<float>() {
  return HWY_DYNAMIC_DISPATCH(scalar_factor_float)();
}

}  // namespace echelon
#endif
