// SPDX-License-Identifier: BSD-3-Clause
// The rows of eight points of each of `lines` neighbouring lines, for one step of the elimination of scalar stencils: where
// they lie in the grid and in the workspace, what is loaded and stored near the ends of lines, and A's rows measured
// (largest |a|, Σ|a|) as they come into the workspace. Reads are safe: a neighbour outside the grid is dropped with its
// line, or its lanes are neither loaded nor used.
#include <hwy/highway.h>

#if defined(ECHELON_FACTOR_STRUCT_FACTOR_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_FACTOR_STRUCT_FACTOR_ROWS_INL
#undef ECHELON_FACTOR_STRUCT_FACTOR_ROWS_INL
#else
#define ECHELON_FACTOR_STRUCT_FACTOR_ROWS_INL
#endif

#include <algorithm>
#include <limits>

#include "echelon/base/simd.inl"
#include "echelon/factor/grid/struct_factor.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr int factor_width = 8;

/// Line l's eight points begin at i0 + l·(stride − nx) of their line, at point base + i0 + l·stride of the grid.
struct StepPlace {
  std::int64_t base, i0, stride;
};

/// `edge`: some of the points, or of their neighbours, may lie outside the line. Has no arrays and hands its address to
/// nobody, so that the compiler keeps its members in registers across stores.
template <int lines, bool edge, class T>
class StepRows {
 public:
  // Lanes are counted in doubles, since row sums are; T may be narrower.
  using Wide = hn::CappedTag<double, factor_width>;
  using D = hn::Rebind<T, Wide>;
  using V = hn::Vec<D>;
  using Workspace = StructFactorWorkspace<T>;
  using Target = LineTarget<T>;

  HWY_INLINE StepRows(const StructFactorView<T>& view, const StepPlace& place, std::int64_t ahead, Workspace& own)
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

 protected:
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

  static HWY_NOINLINE unsigned nonfinite_rows(const StepRows step, int l, std::int64_t v, hn::Vec<Wide> sum) {
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
