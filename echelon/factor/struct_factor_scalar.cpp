// SPDX-License-Identifier: BSD-3-Clause
// Elimination of scalar stencils, a line at a time, eight points a step: entries of other lines with lanes over points, the
// entries of the own line (and the pivots) one point after the other, then what the own line's L does to the upper entries,
// again with lanes over points. What a line has to do is listed once and used for all lines with the same neighbours.
// Bytes a point: 8 an entry read and (unless diagonal_only) written, and 8 for D⁻¹. Reads are safe: a neighbour outside the
// grid is dropped with its line, or its lanes are neither loaded nor used.
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

constexpr int factor_width = 8;
/// How far ahead the matrix is asked for.
constexpr std::int64_t factor_ahead = 160;

/// Eight points [i0, i0 + 8) of a line that begins at point `base`. `edge`: some of them, or of their neighbours, may lie
/// outside the line.
template <bool edge, class T>
class FactorStep {
 public:
  // Lanes are counted in doubles, since row sums are; T may be narrower.
  using Wide = hn::CappedTag<double, factor_width>;
  using D = hn::Rebind<T, Wide>;
  using V = hn::Vec<D>;
  using Workspace = StructFactorWorkspace<T>;
  using Target = LineTarget<T>;

  FactorStep(const StructFactorView<T>& view, std::int64_t base, std::int64_t i0, Workspace& own)
      : view_(view), own_(own), base_(base), i0_(i0), at_(base + i0), nx_(view.grid.nx) {
    from_ = edge ? static_cast<int>(std::max<std::int64_t>(0, -i0)) : 0;
    to_ = edge ? static_cast<int>(std::min<std::int64_t>(factor_width, nx_ - i0)) : factor_width;
  }

  template <bool diagonal_only, bool plain>
  HWY_INLINE void run() {
    for (std::int64_t v = 0; v < factor_width; v += lanes()) {
      measure(v);
      across<diagonal_only>(v);
    }
    if constexpr (plain && !edge) {
      recur_plain<diagonal_only>();
    } else {
      recur<diagonal_only>();
    }
    for (std::int64_t v = 0; v < factor_width; v += lanes()) finish<diagonal_only>(v);
  }

 private:
  static std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(D())); }
  const EliminationPlan& plan() const { return *view_.plan; }

  /// Lanes [begin, end) of the vector at v whose point, moved by `shift`, is on the line.
  std::int64_t begin(std::int64_t v, std::int64_t shift) const {
    return std::clamp<std::int64_t>(-(i0_ + v) - std::min<std::int64_t>(shift, 0), 0, lanes());
  }
  std::int64_t end(std::int64_t v, std::int64_t shift) const {
    return std::max(begin(v, shift),
                    std::clamp<std::int64_t>(nx_ - (i0_ + v) - std::max<std::int64_t>(shift, 0), 0, lanes()));
  }
  /// The step's vector at v; lanes without neighbour `shift` are 0.
  HWY_INLINE V load(const T* p, std::int64_t v, std::int64_t shift) const {
    if constexpr (edge) return load_lanes(D(), p + at_ + v, begin(v, shift), end(v, shift));
    return hn::LoadU(D(), p + at_ + v);
  }
  HWY_INLINE void store(V value, T* p, std::int64_t v) const {
    if constexpr (edge) {
      HWY_ALIGN T kept[factor_width];
      hn::Store(value, D(), kept);
      for (std::int64_t lane = begin(v, 0); lane < end(v, 0); ++lane) p[at_ + v + lane] = kept[lane];
    } else {
      hn::StoreU(value, D(), p + at_ + v);
    }
  }
  T* row(int e) const { return own_.rows + e * factor_width; }
  HWY_INLINE V start(const Target& t, std::int64_t v) const { return t.A ? load(t.A, v, t.shift) : hn::Zero(D()); }

  /// w − Σ L_m U_u over pairs [first, last) of the target.
  HWY_INLINE V eliminate(V w, const Target& t, std::int32_t first, std::int32_t last, std::int64_t v) const {
    for (std::int32_t p = first; p < last; ++p) {
      const LinePair<T>& pair = own_.pairs[static_cast<std::size_t>(p)];
      const V L = hn::Load(D(), row(pair.lower) + v);
      if constexpr (edge) {
        // Lanes that have both m and t: u of m is then t.
        const std::int64_t low = std::max(begin(v, pair.shift), begin(v, t.shift));
        const std::int64_t high = std::max(low, std::min(end(v, pair.shift), end(v, t.shift)));
        const auto inside =
            hn::AndNot(hn::FirstN(D(), static_cast<std::size_t>(low)), hn::FirstN(D(), static_cast<std::size_t>(high)));
        w = hn::IfThenElse(inside, hn::NegMulAdd(L, load_lanes(D(), pair.U + at_ + v, low, high), w), w);
      } else {
        w = hn::NegMulAdd(L, hn::LoadU(D(), pair.U + at_ + v), w);
      }
    }
    return w;
  }

  /// Largest |a| and Σ|a| of every row; a row that is not finite is looked at by itself.
  HWY_INLINE void measure(std::int64_t v) {
    V scale = hn::Zero(D());
    const Wide wide;
    auto sum = hn::Zero(wide);
    for (const Target& t : own_.targets) {
      if (!t.A || !t.there) continue;
      __builtin_prefetch(t.A + at_ + v + factor_ahead);
      const V size = hn::Abs(load(t.A, v, t.shift));
      // As a comparison: a NaN leaves the scale as it is, like the reference.
      scale = hn::IfThenElse(hn::Gt(size, scale), size, scale);
      if constexpr (sizeof(T) == sizeof(double)) {
        sum = hn::Add(sum, size);
      } else {
        sum = hn::Add(sum, hn::PromoteTo(wide, size));
      }
    }
    hn::Store(scale, D(), scale_ + v);
    const auto finite = hn::Le(sum, hn::Set(wide, std::numeric_limits<double>::max()));
    for (std::int64_t lane = v; lane < v + lanes(); ++lane) nonfinite_[lane] = false;
    if (HWY_LIKELY(hn::AllTrue(wide, finite))) {
      hn::Store(hn::Max(hn::Load(wide, own_.norms + v), sum), wide, own_.norms + v);
    } else {
      measure_again(v, sum);
    }
  }

  HWY_NOINLINE void measure_again(std::int64_t v, hn::Vec<Wide> sum) {
    HWY_ALIGN double sums[factor_width];
    hn::Store(sum, Wide(), sums);
    for (std::int64_t lane = begin(v, 0); lane < end(v, 0); ++lane) {
      note_row_sum(view_.rules, place(v + lane), sums[lane], own_, [&] { return row_is_nonfinite(v + lane); });
      nonfinite_[v + lane] = own_.row_nonfinite;
    }
  }
  bool row_is_nonfinite(std::int64_t lane) const {
    return std::ranges::any_of(own_.targets, [&](const Target& t) {
      const std::int64_t i = i0_ + lane + t.shift;
      return t.A && t.there && i >= 0 && i < nx_ && !(magnitude(t.A[at_ + lane]) <= std::numeric_limits<T>::max());
    });
  }
  PivotPlace place(std::int64_t lane) const { return {at_ + lane, at_ + lane}; }

  /// Lower entries of other lines are finished; those of the own line are left where the other lines' part ends.
  template <bool diagonal_only>
  HWY_INLINE void across(std::int64_t v) {
    V sum = hn::Zero(D());
    const int own_begin = plan().along_begin, own_end = plan().along_end, center = plan().center;
    for (int e = 0; e < own_begin; ++e) {
      const Target& t = own_.targets[static_cast<std::size_t>(e)];
      V L = hn::Zero(D());
      if (t.there) L = hn::Mul(eliminate(start(t, v), t, t.first, t.along, v), load(t.inverse, v, t.shift));
      hn::Store(L, D(), row(e) + v);
      sum = hn::Add(sum, hn::Abs(L));
      if constexpr (!diagonal_only) store(L, t.F, v);
    }
    hn::Store(sum, D(), lower_sum_ + v);
    for (int e = own_begin; e < own_end; ++e) {
      const Target& t = own_.targets[static_cast<std::size_t>(e)];
      const V a = HWY_UNLIKELY(e == center && view_.rules.shift > 0) ? shifted_diagonal(t, v) : start(t, v);
      hn::Store(eliminate(a, t, t.first, t.along, v), D(), row(e) + v);
    }
  }

  V shifted_diagonal(const Target& t, std::int64_t v) const {
    HWY_ALIGN T diagonal[factor_width];
    hn::Store(start(t, v), D(), diagonal);
    for (std::int64_t lane = begin(v, 0); lane < end(v, 0); ++lane) {
      diagonal[lane] = shifted(view_.rules, diagonal[lane], scale_[v + lane], own_);
    }
    return hn::Load(D(), diagonal);
  }

  HWY_INLINE T inverse_of(T pivot, int lane) {
    if (HWY_UNLIKELY(!pivot_is_good(view_.rules, pivot, scale_[lane]))) {
      own_.row_nonfinite = nonfinite_[lane];
      pivot = repaired_pivot(view_.rules, place(lane), pivot, scale_[lane], own_);
    }
    return T(1) / pivot;
  }

  /// One lower entry, at −1, and at most the upper one at +1: a chain of one product, one fma and one division.
  template <bool diagonal_only>
  HWY_INLINE void recur_plain() {
    const int m = plan().along_begin, c = plan().center;
    const bool has_upper = plan().along_end > c + 1;
    T* L = row(m);
    const T* diagonal = row(c);
    const T* U = row(has_upper ? c + 1 : c);
    T* inverse = view_.inverse + at_;
    const T* above = !has_upper ? nullptr : diagonal_only ? view_.A[c + 1] : view_.F[c + 1];
    T last = inverse[-1], last_upper = has_upper ? above[at_ - 1] : T(0);
    HWY_ALIGN T found[factor_width];
    for (int lane = 0; lane < factor_width; ++lane) {
      const T l = L[lane] * last;
      L[lane] = l;
      T pivot = diagonal[lane];
      if (has_upper) pivot = fma(-l, last_upper, pivot);
      last_upper = U[lane];
      found[lane] = last = inverse_of(pivot, lane);
    }
    for (int lane = 0; lane < factor_width; ++lane) inverse[lane] = found[lane];
  }

  template <bool diagonal_only>
  void recur() {
    const int c = plan().center;
    const auto upper = [&](int u) { return diagonal_only ? view_.A[u] : view_.F[u]; };
    for (int lane = from_; lane < to_; ++lane) {
      const std::int64_t i = i0_ + lane;
      const auto shift_of = [&](int e) { return own_.targets[static_cast<std::size_t>(e)].shift; };
      const auto inside = [&](int e) { return i + shift_of(e) >= 0 && i + shift_of(e) < nx_; };
      for (int e = plan().along_begin; e < plan().along_end; ++e) {
        if (!inside(e)) continue;
        T w = row(e)[lane];
        for (const auto [m, u] : plan().pairs(e)) {
          if (m < plan().along_begin || !inside(m)) continue;
          w = fma(-row(m)[lane], upper(u)[base_ + i + shift_of(m)], w);
        }
        if (e < c) w *= view_.inverse[base_ + i + shift_of(e)];
        row(e)[lane] = w;
        if (e == c) view_.inverse[base_ + i] = inverse_of(w, lane);
        // Later points of this step look for it in the factors.
        if (e > c && !diagonal_only) view_.F[e][base_ + i] = w;
      }
    }
  }

  /// What is left of the upper part, the stores of the own line, and the bounds.
  template <bool diagonal_only>
  HWY_INLINE void finish(std::int64_t v) {
    V lower = hn::Load(D(), lower_sum_ + v), above = hn::Zero(D());
    for (int e = plan().along_begin; e < plan().along_end; ++e) {
      if (e == plan().center) continue;
      const V value = hn::Load(D(), row(e) + v);
      if (e < plan().center) {
        lower = hn::Add(lower, hn::Abs(value));
      } else {
        above = hn::Add(above, hn::Abs(value));
      }
      if constexpr (!diagonal_only) store(value, view_.F[e], v);
    }
    for (const std::int32_t e : plan().across_up) {
      const Target& t = own_.targets[static_cast<std::size_t>(e)];
      V w = t.there ? start(t, v) : hn::Zero(D());
      if constexpr (!diagonal_only) {
        if (t.there) w = eliminate(w, t, t.first, t.last, v);
        store(w, t.F, v);
      }
      above = hn::Add(above, hn::Abs(w));
    }
    const V inverse = hn::Abs(load(view_.inverse, v, 0));
    above = hn::Mul(above, inverse);
    raise(own_.lower_sums, lower, v);
    raise(own_.upper_sums, above, v);
    raise(own_.inverses, inverse, v);
    // 0·x is NaN for what is not finite, and stays so in a sum.
    const V poison = hn::MulAdd(hn::Zero(D()), hn::Add(lower, above), hn::Load(D(), own_.poison + v));
    hn::Store(poison, D(), own_.poison + v);
  }

  static HWY_INLINE void raise(T* largest, V value, std::int64_t v) {
    hn::Store(hn::Max(hn::Load(D(), largest + v), value), D(), largest + v);
  }

  const StructFactorView<T>& view_;
  Workspace& own_;
  const std::int64_t base_, i0_, at_, nx_;
  int from_, to_;
  HWY_ALIGN T scale_[factor_width], lower_sum_[factor_width];
  bool nonfinite_[factor_width];
};

template <bool diagonal_only, bool plain, class T>
void factor_steps(const StructFactorView<T>& view, const LineWork& work, StructFactorWorkspace<T>& own) {
  const std::int64_t nx = view.grid.nx, base = (work.plane * view.grid.ny + work.line) * nx;
  std::int64_t left = 0, right = 0;
  for (const Offset& o : view.plan->offsets) {
    left = std::max<std::int64_t>(left, -o.x);
    right = std::max<std::int64_t>(right, o.x);
  }
  for (std::int64_t s = work.begin; s < work.end; ++s) {
    const std::int64_t i0 = s * factor_width;
    if (i0 >= left && i0 + factor_width + right <= nx) {
      FactorStep<false, T>(view, base, i0, own).template run<diagonal_only, plain>();
    } else {
      FactorStep<true, T>(view, base, i0, own).template run<diagonal_only, plain>();
    }
  }
}

template <class T>
void factor_line(const StructFactorView<T>& view, const LineWork& work, StructFactorWorkspace<T>& own) {
  list_line(view, work.line, work.plane, own);
  const EliminationPlan& plan = *view.plan;
  const auto shift_of = [&](int e) { return plan.offsets[static_cast<std::size_t>(e)].x; };
  const int up = plan.along_end - plan.center - 1;
  const bool plain = plan.center - plan.along_begin == 1 && shift_of(plan.along_begin) == -1 &&
                     (up == 0 || (up == 1 && shift_of(plan.center + 1) == 1));
  if (plan.diagonal_only) {
    plain ? factor_steps<true, true>(view, work, own) : factor_steps<true, false>(view, work, own);
  } else {
    plain ? factor_steps<false, true>(view, work, own) : factor_steps<false, false>(view, work, own);
  }
}

StructFactorKernel<double> scalar_factor_double() { return {&factor_line<double>, {1, factor_width}, true, factor_width}; }
StructFactorKernel<float> scalar_factor_float() { return {&factor_line<float>, {1, factor_width}, true, factor_width}; }

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
