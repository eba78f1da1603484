// SPDX-License-Identifier: BSD-3-Clause
// One step of the elimination of scalar stencils: eight points of each of `lines` neighbouring lines. Entries of other lines
// with lanes over points, the entries of the own line (and the pivots) point after point, the lines' recurrences side by
// side, since each waits for its divisions; then what the own line's L does to the upper entries, again with lanes over
// points. Bytes a point: 8 an entry read and (unless diagonal_only) written, and 8 for D⁻¹. Reads are safe: a neighbour
// outside the grid is dropped with its line, or its lanes are neither loaded nor used.
#include <hwy/highway.h>

#if defined(ECHELON_FACTOR_STRUCT_FACTOR_SCALAR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_FACTOR_STRUCT_FACTOR_SCALAR_INL
#undef ECHELON_FACTOR_STRUCT_FACTOR_SCALAR_INL
#else
#define ECHELON_FACTOR_STRUCT_FACTOR_SCALAR_INL
#endif

#include <algorithm>
#include <limits>

#include "echelon/base/simd.inl"
#include "echelon/factor/struct_factor.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr int factor_width = 8;

/// Two recurrences take little more time than one, but four times as many streams of memory cost more than they gain.
constexpr int lines_together = 2;

/// Line l's eight points begin at i0 + l·(stride − nx) of their line, at point base + i0 + l·stride of the grid.
struct StepPlace {
  std::int64_t base, i0, stride;
};

/// `edge`: some of the points, or of their neighbours, may lie outside the line. Has no arrays and hands its address to
/// nobody, so that the compiler keeps its members in registers across stores.
template <int lines, bool edge, class T>
class FactorStep {
 public:
  // Lanes are counted in doubles, since row sums are; T may be narrower.
  using Wide = hn::CappedTag<double, factor_width>;
  using D = hn::Rebind<T, Wide>;
  using V = hn::Vec<D>;
  using Workspace = StructFactorWorkspace<T>;
  using Target = LineTarget<T>;

  HWY_INLINE FactorStep(const StructFactorView<T>& view, const StepPlace& place, std::int64_t ahead, Workspace& own)
      : view_(&view),
        own_(&own),
        targets_(own.targets.data()),
        pairs_(own.pairs.data()),
        inside_(own.inside.data()),
        rows_(own.rows),
        i0_(place.i0),
        at_(place.base + place.i0),
        stride_(place.stride),
        ahead_(ahead),
        nx_(view.grid.nx),
        entries_(static_cast<int>(own.targets.size())) {
    if constexpr (edge) mark_inside();
  }

  template <bool diagonal_only>
  HWY_INLINE void run(bool plain) const {
    Held held;
    for (std::int64_t v = 0; v < factor_width; v += lanes()) {
      measure<diagonal_only>(held, v);
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
  /// Of every point: largest |a|, Σ|L| of other lines, Σ|L| before the scaling; of every line: a bit for each row of A with
  /// NaN or Inf.
  struct Held {
    HWY_ALIGN T scale[lines][factor_width];
    HWY_ALIGN T lower_sum[lines][factor_width];
    HWY_ALIGN T unscaled_sum[lines][factor_width];
    unsigned nonfinite[lines] = {};
  };

  static std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(D())); }
  const EliminationPlan& plan() const { return *view_->plan; }
  std::int64_t i0(int l) const { return i0_ + l * (stride_ - nx_); }
  std::int64_t at(int l) const { return at_ + l * stride_; }
  std::int64_t points(int l) const {
    return edge ? std::min<std::int64_t>(factor_width, nx_ - i0(l)) : std::int64_t{factor_width};
  }

  /// Bit n of inside(e, l): point n is on the line, and so is its neighbour by entry e.
  std::uint8_t& inside(int e, int l) const { return inside_[e * lines + l]; }
  HWY_INLINE void mark_inside() const {
    for (int e = 0; e < entries_; ++e) {
      const std::int64_t shift = targets_[e].shift;
      for (int l = 0; l < lines; ++l) {
        const std::int64_t begin = std::clamp<std::int64_t>(-shift - i0(l), 0, factor_width);
        const std::int64_t end =
            std::clamp<std::int64_t>(nx_ - std::max<std::int64_t>(shift, 0) - i0(l), begin, factor_width);
        inside(e, l) = static_cast<std::uint8_t>((1U << end) - (1U << begin));
      }
    }
  }
  static HWY_INLINE hn::Mask<D> mask(unsigned bits, std::int64_t v) {
    // LoadMaskBits may read eight bytes.
    const std::uint8_t bytes[8] = {static_cast<std::uint8_t>(bits >> v & ((1U << lanes()) - 1))};
    return hn::LoadMaskBits(D(), bytes);
  }
  static HWY_INLINE V load_marked(const T* p, unsigned bits, std::int64_t v) {
#if HWY_MEM_OPS_MIGHT_FAULT
    HWY_ALIGN T kept[factor_width] = {};
    for (std::int64_t lane = 0; lane < lanes(); ++lane) {
      if (bits >> (v + lane) & 1U) kept[lane] = p[lane];
    }
    return hn::Load(D(), kept);
#else
    return hn::MaskedLoad(mask(bits, v), D(), p);
#endif
  }
  /// The step's vector at v; lanes without neighbour e are 0.
  HWY_INLINE V load(const T* p, int e, int l, std::int64_t v) const {
    if constexpr (edge) return load_marked(p + at(l) + v, inside(e, l), v);
    return hn::LoadU(D(), p + at(l) + v);
  }
  HWY_INLINE void store(V value, T* p, int l, std::int64_t v) const {
    if constexpr (edge) {
      HWY_ALIGN T kept[factor_width];
      hn::Store(value, D(), kept);
      const std::int64_t end = std::min(lanes(), points(l) - v);
      for (std::int64_t lane = 0; lane < end; ++lane) p[at(l) + v + lane] = kept[lane];
    } else {
      hn::StoreU(value, D(), p + at(l) + v);
    }
  }
  T* row(int e) const { return rows_ + std::int64_t{e} * (lines * factor_width); }
  HWY_INLINE V row(int e, int l, std::int64_t v) const { return hn::Load(D(), row(e) + l * factor_width + v); }
  HWY_INLINE void set_row(V value, int e, int l, std::int64_t v) const {
    hn::Store(value, D(), row(e) + l * factor_width + v);
  }

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

  /// Largest |a| and Σ|a| of every row; a row that is not finite is looked at by itself. A is read here and nowhere else: on
  /// some grids its planes lie so that a point's entries throw each other out of the cache.
  template <bool diagonal_only>
  HWY_INLINE void measure(Held& held, std::int64_t v) const {
    // With lines side by side what is asked for is a whole group away: too much for the first-level cache.
    constexpr int nearness = lines > 1 ? 2 : 3;
    const Wide wide;
    V scale[lines];
    hn::Vec<Wide> sum[lines];
    for (int l = 0; l < lines; ++l) {
      scale[l] = hn::Zero(D());
      sum[l] = hn::Zero(wide);
    }
    bool at_end = false;
    for (int l = 0; l < lines; ++l) at_end = at_end || i0(l) == 0 || i0(l) + factor_width == nx_;
    for (int e = 0; e < entries_; ++e) {
      const Target& t = targets_[e];
      const bool there = t.A && t.there;
      for (int l = 0; l < lines; ++l) {
        if constexpr (!diagonal_only) __builtin_prefetch(t.F + at(l) + v + ahead_, 1, nearness);
        if (!there) {
          set_row(hn::Zero(D()), e, l, v);
          continue;
        }
        __builtin_prefetch(t.A + at(l) + v + ahead_, 0, nearness);
        V a = load(t.A, e, l, v);
        if constexpr (!edge && diagonal_only) {
          if (HWY_UNLIKELY(t.shift != 0 && at_end)) a = without_outside(a, t.shift, l, v);
        }
        const V size = hn::Abs(a);
        set_row(a, e, l, v);
        // As a comparison: a NaN leaves the scale as it is, like the reference.
        scale[l] = hn::IfThenElse(hn::Gt(size, scale[l]), size, scale[l]);
        if constexpr (sizeof(T) == sizeof(double)) {
          sum[l] = hn::Add(sum[l], size);
        } else {
          sum[l] = hn::Add(sum[l], hn::PromoteTo(wide, size));
        }
      }
    }
    auto norm = hn::Load(wide, own_->norms + v);
    const auto largest = hn::Set(wide, std::numeric_limits<double>::max());
    for (int l = 0; l < lines; ++l) {
      hn::Store(scale[l], D(), held.scale[l] + v);
      const auto finite = hn::Le(sum[l], largest);
      norm = hn::IfThenElse(hn::And(finite, hn::Gt(sum[l], norm)), sum[l], norm);
      if (HWY_UNLIKELY(!hn::AllTrue(wide, finite))) held.nonfinite[l] |= nonfinite_rows(*this, l, v, sum[l]);
    }
    hn::Store(norm, wide, own_->norms + v);
  }

  /// 0 where the neighbour at `shift` is not on the line: a step inside its line by all other entries may still be at an
  /// end.
  HWY_INLINE V without_outside(V a, std::int64_t shift, int l, std::int64_t v) const {
    const std::int64_t begin = std::clamp<std::int64_t>(-shift - i0(l) - v, 0, lanes());
    const std::int64_t end = std::clamp<std::int64_t>(nx_ - shift - i0(l) - v, 0, lanes());
    const auto before = hn::FirstN(D(), static_cast<std::size_t>(begin));
    return hn::IfThenElseZero(hn::AndNot(before, hn::FirstN(D(), static_cast<std::size_t>(end))), a);
  }

  static HWY_NOINLINE unsigned nonfinite_rows(const FactorStep step, int l, std::int64_t v, hn::Vec<Wide> sum) {
    HWY_ALIGN double sums[factor_width];
    hn::Store(sum, Wide(), sums);
    unsigned bits = 0;
    for (std::int64_t n = v; n < std::min(v + lanes(), step.points(l)); ++n) {
      note_row_sum(step.view_->rules, step.place(l, n), sums[n - v], *step.own_,
                   [&] { return step.row_is_nonfinite(l, n); });
      if (step.own_->row_nonfinite) bits |= 1U << n;
    }
    return bits;
  }
  bool row_is_nonfinite(int l, std::int64_t lane) const {
    return std::ranges::any_of(own_->targets, [&](const Target& t) {
      const std::int64_t i = i0(l) + lane + t.shift;
      return t.A && t.there && i >= 0 && i < nx_ && !(magnitude(t.A[at(l) + lane]) <= std::numeric_limits<T>::max());
    });
  }
  PivotPlace place(int l, std::int64_t lane) const { return {at(l) + lane, at(l) + lane}; }

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

  const StructFactorView<T>* view_;
  Workspace* own_;
  const Target* targets_;
  const LinePair<T>* pairs_;
  std::uint8_t* inside_;
  T* rows_;
  std::int64_t i0_, at_, stride_, ahead_, nx_;
  int entries_;
};

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
