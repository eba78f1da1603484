// SPDX-License-Identifier: BSD-3-Clause
// One step of the elimination of scalar stencils: eight points of each of `lines` neighbouring lines
// (struct_factor_rows.inl). Entries of other lines with lanes over points, the entries of the own line (and the pivots)
// point after point, the lines' recurrences side by side, since each waits for its divisions; then what the own line's L
// does to the upper entries, again with lanes over points. Bytes a point: 8 an entry read and (unless diagonal_only)
// written, and 8 for D⁻¹.
#include <hwy/highway.h>

#if defined(ECHELON_FACTOR_STRUCT_FACTOR_SCALAR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_FACTOR_STRUCT_FACTOR_SCALAR_INL
#undef ECHELON_FACTOR_STRUCT_FACTOR_SCALAR_INL
#else
#define ECHELON_FACTOR_STRUCT_FACTOR_SCALAR_INL
#endif

#include <algorithm>
#include <limits>

#include "echelon/factor/grid/struct_factor_rows.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

/// Two recurrences take little more time than one, but four times as many streams of memory cost more than they gain.
constexpr int lines_together = 2;

template <int lines, bool edge, class T>
class FactorStep : StepRows<lines, edge, T> {
  using Rows = StepRows<lines, edge, T>;
  using Rows::at;
  using Rows::at_;
  using Rows::i0;
  using Rows::inside;
  using Rows::lanes;
  using Rows::load;
  using Rows::load_marked;
  using Rows::mask;
  using Rows::nx_;
  using Rows::own_;
  using Rows::pairs_;
  using Rows::place;
  using Rows::plan;
  using Rows::points;
  using Rows::row;
  using Rows::rows_;
  using Rows::set_row;
  using Rows::store;
  using Rows::stride_;
  using Rows::targets_;
  using Rows::view_;
  using typename Rows::D;
  using typename Rows::Held;
  using typename Rows::Target;
  using typename Rows::V;
  using typename Rows::Wide;
  using typename Rows::Workspace;

 public:
  // Not inherited: the compiler's own constructor would not be for this SIMD target.
  HWY_INLINE FactorStep(const StructFactorView<T>& view, const StepPlace& where, std::int64_t ahead, Workspace& own)
      : Rows(view, where, ahead, own) {}

  template <bool diagonal_only>
  HWY_INLINE void run(bool plain) const {
    Held held;
    for (std::int64_t v = 0; v < factor_width; v += lanes()) {
      this->template measure<diagonal_only>(held, v);
      if (HWY_UNLIKELY(view_->rules.shift > 0)) shift_diagonals(*this, held, v);
      across<diagonal_only>(held, v);
    }
    if (plain) {
      plan().along_end > plan().center + 1 ? recur_plain<diagonal_only, true>(held)
                                           : recur_plain<diagonal_only, false>(held);
    } else {
      for (int l = 0; l < lines; ++l) recur<diagonal_only>(*this, held, l);
    }
    for (std::int64_t v = 0; v < factor_width; v += lanes()) finish<diagonal_only>(held, v);
  }

 private:
  /// w − Σ L_m U_u over pairs [first, last) of target e, for all lines.
  HWY_INLINE void eliminate(V* HWY_RESTRICT w, int e, std::int32_t first, std::int32_t last, std::int64_t v) const {
    for (const LinePair<T>*pair = pairs_ + first, *end = pairs_ + last; pair != end; ++pair) {
      const T* U = pair->U + at_ + v;
      const T* L = row(pair->lower) + v;
      for (int l = 0; l < lines; ++l) {
        if constexpr (edge) {
          // Lanes that have both m and t: u of m is then t.
          const unsigned both = inside(pair->lower, l) & inside(e, l);
          const V product = hn::NegMulAdd(hn::Load(D(), L + l * factor_width), load_marked(U + l * stride_, both, v), w[l]);
          w[l] = hn::IfThenElse(mask(both, v), product, w[l]);
        } else {
          w[l] = hn::NegMulAdd(hn::Load(D(), L + l * factor_width), hn::LoadU(D(), U + l * stride_), w[l]);
        }
      }
    }
  }

  /// Lower entries of other lines are finished; those of the own line are left where the other lines' part ends.
  template <bool diagonal_only>
  HWY_INLINE void across(Held& held, std::int64_t v) const {
    const int own_begin = plan().along_begin, own_end = plan().along_end;
    V sum[lines], unscaled[lines], w[lines];
    for (int l = 0; l < lines; ++l) sum[l] = unscaled[l] = hn::Zero(D());
    for (int e = 0; e < own_begin; ++e) {
      const Target& t = targets_[e];
      if (!t.there) {
        if constexpr (!diagonal_only) {
          for (int l = 0; l < lines; ++l) store(hn::Zero(D()), t.F, l, v);
        }
        continue;
      }
      for (int l = 0; l < lines; ++l) w[l] = row(e, l, v);
      eliminate(w, e, t.first, t.along, v);
      for (int l = 0; l < lines; ++l) {
        const V L = hn::Mul(w[l], load(t.inverse, e, l, v));
        set_row(L, e, l, v);
        unscaled[l] = hn::Add(unscaled[l], hn::Abs(w[l]));
        sum[l] = hn::Add(sum[l], hn::Abs(L));
        if constexpr (!diagonal_only) store(L, t.F, l, v);
      }
    }
    for (int l = 0; l < lines; ++l) {
      hn::Store(sum[l], D(), held.lower_sum[l] + v);
      hn::Store(unscaled[l], D(), held.unscaled_sum[l] + v);
    }
    for (int e = own_begin; e < own_end; ++e) {
      const Target& t = targets_[e];
      for (int l = 0; l < lines; ++l) w[l] = row(e, l, v);
      eliminate(w, e, t.first, t.along, v);
      for (int l = 0; l < lines; ++l) set_row(w[l], e, l, v);
    }
  }

  static HWY_NOINLINE void shift_diagonals(const FactorStep step, const Held& held, std::int64_t v) {
    for (int l = 0; l < lines; ++l) {
      T* diagonal = step.row(step.plan().center) + l * factor_width;
      for (std::int64_t n = v; n < std::min(v + lanes(), step.points(l)); ++n) {
        diagonal[n] = shifted(step.view_->rules, diagonal[n], held.scale[l][n], *step.own_);
      }
    }
  }

  /// One lower entry, at −1, and at most the upper one at +1: chains of one product, one fma and one division. Pivots are
  /// tested afterwards; a line with a bad one is done again with care.
  template <bool diagonal_only, bool has_upper>
  HWY_INLINE void recur_plain(Held& held) const {
    const int c = plan().center;
    const T* above = !has_upper ? nullptr : diagonal_only ? view_->A[c + 1] : view_->F[c + 1];
    T* inverse = view_->inverse;
    const T *lower = row(c - 1), *diagonal = row(c), *upper = row(has_upper ? c + 1 : c);
    HWY_ALIGN T L[lines][factor_width];
    HWY_ALIGN T pivots[lines][factor_width];
    HWY_ALIGN T found[lines][factor_width];
    T last[lines], last_upper[lines];
    for (int l = 0; l < lines; ++l) {
      // Nothing before a line: L is 0 there, and a − 0·0 is a.
      const bool before = i0(l) > 0;
      last[l] = before ? inverse[at(l) - 1] : T(0);
      last_upper[l] = before && has_upper ? above[at(l) - 1] : T(0);
    }
    HWY_UNROLL(8)
    for (int lane = 0; lane < factor_width; ++lane) {
      HWY_UNROLL(4)
      for (int l = 0; l < lines; ++l) {
        const int n = l * factor_width + lane;
        const T times = lower[n] * last[l];
        T pivot = diagonal[n];
        if constexpr (has_upper) {
          pivot = fma(-times, last_upper[l], pivot);
          last_upper[l] = upper[n];
        }
        L[l][lane] = times;
        pivots[l][lane] = pivot;
        found[l][lane] = last[l] = T(1) / pivot;
      }
    }
    for (int l = 0; l < lines; ++l) {
      if (HWY_UNLIKELY(!all_good(pivots[l], held.scale[l], points(l)))) {
        recur<diagonal_only>(*this, held, l);
        continue;
      }
      for (std::int64_t v = 0; v < factor_width; v += lanes()) {
        const V unscaled = hn::Load(D(), held.unscaled_sum[l] + v);
        hn::Store(hn::Add(unscaled, hn::Abs(row(c - 1, l, v))), D(), held.unscaled_sum[l] + v);
        V found_lower = hn::Load(D(), L[l] + v);
        // Behind the end of the line are quotients by 0.
        if constexpr (edge) found_lower = hn::IfThenElseZero(mask(inside(c, l), v), found_lower);
        set_row(found_lower, c - 1, l, v);
        store(hn::Load(D(), found[l] + v), inverse, l, v);
      }
    }
  }

  /// pivot_is_good for the first `count` points.
  HWY_INLINE bool all_good(const T* pivots, const T* scales, std::int64_t count) const {
    const Wide wide;
    bool all = true;
    for (std::int64_t v = 0; v < factor_width; v += lanes()) {
      const auto pivot = load_as(wide, pivots + v), size = hn::Abs(pivot);
      auto good = hn::And(hn::Gt(size, hn::Mul(hn::Set(wide, view_->rules.tolerance), load_as(wide, scales + v))),
                          hn::Le(size, hn::Set(wide, static_cast<double>(std::numeric_limits<T>::max()))));
      if (view_->rules.positive) good = hn::AndNot(hn::Lt(pivot, hn::Zero(wide)), good);
      if constexpr (edge) {
        const auto there = static_cast<std::size_t>(std::clamp<std::int64_t>(count - v, 0, lanes()));
        good = hn::Or(good, hn::Not(hn::FirstN(wide, there)));
      }
      all = all && hn::AllTrue(wide, good);
    }
    return all;
  }

  T inverse_of(T pivot, const Held& held, int l, int lane) const {
    const T scale = held.scale[l][lane];
    if (HWY_UNLIKELY(!pivot_is_good(view_->rules, pivot, scale))) {
      own_->row_nonfinite = held.nonfinite[l] >> lane & 1U;
      pivot = repaired_pivot(view_->rules, place(l, lane), pivot, scale, *own_);
    }
    return T(1) / pivot;
  }

  /// Any entries along the line, and any pivots.
  template <bool diagonal_only>
  static HWY_NOINLINE void recur(const FactorStep step, Held& held, int l) {
    const StructFactorView<T>& view = *step.view_;
    const EliminationPlan& plan = *view.plan;
    // Where only the diagonal is written, a step without other edges may be at an end of its line.
    constexpr bool always = !edge && !diagonal_only;
    const int c = plan.center, begin = plan.along_begin, end = plan.along_end;
    const std::int64_t count = step.points(l);
    for (int lane = 0; lane < count; ++lane) {
      const std::int64_t i = step.i0(l) + lane, point = step.at(l) + lane;
      T* values = step.rows_ + l * factor_width + lane;
      const auto value = [&](int e) -> T& { return values[std::int64_t{e} * (lines * factor_width)]; };
      const auto on_line = [&](std::int64_t shift) { return always || (i + shift >= 0 && i + shift < step.nx_); };
      for (int e = begin; e < end; ++e) {
        const Target& t = step.targets_[e];
        if (!on_line(t.shift)) continue;
        T w = value(e);
        for (std::int32_t p = t.along; p < t.last; ++p) {
          const LinePair<T>& pair = step.pairs_[p];
          if (on_line(pair.shift)) w = fma(-value(pair.lower), pair.U[point], w);
        }
        if (e < c) {
          held.unscaled_sum[l][lane] += magnitude(w);
          w *= t.inverse[point];
        }
        value(e) = w;
        if (e == c) view.inverse[point] = step.inverse_of(w, held, l, lane);
        // Later points of this step look for it in the factors.
        if (e > c && !diagonal_only) view.F[e][point] = w;
      }
    }
  }

  /// What is left of the upper part, the stores of the own line, and the bounds.
  template <bool diagonal_only>
  HWY_INLINE void finish(const Held& held, std::int64_t v) const {
    const int center = plan().center;
    V lower[lines], unscaled[lines], above[lines], w[lines];
    for (int l = 0; l < lines; ++l) {
      lower[l] = hn::Load(D(), held.lower_sum[l] + v);
      unscaled[l] = hn::Load(D(), held.unscaled_sum[l] + v);
      above[l] = hn::Zero(D());
    }
    for (int e = plan().along_begin; e < center; ++e) {
      for (int l = 0; l < lines; ++l) {
        lower[l] = hn::Add(lower[l], hn::Abs(row(e, l, v)));
        if constexpr (!diagonal_only) store(row(e, l, v), targets_[e].F, l, v);
      }
    }
    for (int e = center + 1; e < plan().along_end; ++e) {
      for (int l = 0; l < lines; ++l) {
        above[l] = hn::Add(above[l], hn::Abs(row(e, l, v)));
        if constexpr (!diagonal_only) store(row(e, l, v), targets_[e].F, l, v);
      }
    }
    const std::int32_t* up = plan().across_up.data();
    for (std::size_t n = 0, count = plan().across_up.size(); n < count; ++n) {
      const Target& t = targets_[up[n]];
      for (int l = 0; l < lines; ++l) w[l] = row(up[n], l, v);
      if constexpr (!diagonal_only) {
        if (t.there) eliminate(w, up[n], t.first, t.last, v);
        for (int l = 0; l < lines; ++l) store(w[l], t.F, l, v);
      }
      for (int l = 0; l < lines; ++l) above[l] = hn::Add(above[l], hn::Abs(w[l]));
    }
    V largest_lower = hn::Load(D(), own_->lower_sums + v), largest_upper = hn::Load(D(), own_->upper_sums + v);
    V largest_scaled = hn::Load(D(), own_->scaled_lower_sums + v);
    V largest_inverse = hn::Load(D(), own_->inverses + v), poison = hn::Load(D(), own_->poison + v);
    for (int l = 0; l < lines; ++l) {
      const V inverse = hn::Abs(load(view_->inverse, center, l, v));
      above[l] = hn::Mul(above[l], inverse);
      largest_lower = hn::Max(largest_lower, lower[l]);
      largest_scaled = hn::Max(largest_scaled, hn::Mul(unscaled[l], inverse));
      largest_upper = hn::Max(largest_upper, above[l]);
      largest_inverse = hn::Max(largest_inverse, inverse);
      // 0·x is NaN for what is not finite, and stays so in a sum.
      poison = hn::MulAdd(hn::Zero(D()), hn::Add(lower[l], above[l]), poison);
    }
    hn::Store(largest_lower, D(), own_->lower_sums + v);
    hn::Store(largest_scaled, D(), own_->scaled_lower_sums + v);
    hn::Store(largest_upper, D(), own_->upper_sums + v);
    hn::Store(largest_inverse, D(), own_->inverses + v);
    hn::Store(poison, D(), own_->poison + v);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
