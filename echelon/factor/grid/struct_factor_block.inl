// SPDX-License-Identifier: BSD-3-Clause
// Elimination of block stencils, once for each SIMD target: point by point, lanes over the rows of a block, a target's
// columns in registers while its pairs go by, and A measured as it comes by. Bytes a point: 8 b² an entry read and (unless
// diagonal_only) written, and 8 b² for D⁻¹.
// Reads are safe: a neighbour outside the grid is never asked, and a line's last point, whose loads could run over the end
// of an array, takes copies.
#include "echelon/base/small_block_simd.inl"
#include "echelon/factor/grid/struct_factor.hpp"

#if defined(ECHELON_STRUCT_FACTOR_BLOCK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_STRUCT_FACTOR_BLOCK_INL
#undef ECHELON_STRUCT_FACTOR_BLOCK_INL
#else
#define ECHELON_STRUCT_FACTOR_BLOCK_INL
#endif

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

#if ECHELON_BLOCK_LANES

constexpr LineGroups::Shape block_factor_shape{1, 8};

/// The elimination of the points of one line.
template <int B, class T>
class BlockFactorLine {
 public:
  BlockFactorLine(const StructFactorView<T>& view, const LineWork& work, StructFactorWorkspace<T>& own)
      : view_(view),
        plan_(*view.plan),
        entries_(static_cast<int>(view.plan->offsets.size())),
        nx_(view.grid.nx),
        base_((work.plane * view.grid.ny + work.line) * view.grid.nx),
        own_(own) {
    list_line(view, work.line, work.plane, own);
    all_there_ = std::ranges::all_of(own.targets, [](const auto& t) { return t.there; });
    for (const Offset& o : plan_.offsets) {
      left_ = std::max<std::int64_t>(left_, -o.x);
      right_ = std::max<std::int64_t>(right_, o.x);
    }
  }

  void point(std::int64_t i) {
    i_ = i;
    point_ = base_ + i;
    near_end_ = i < left_ || i + right_ >= nx_;
    whole_ = all_there_ && !near_end_;
    last_ = C::padded != B && i == nx_ - 1;
    const T shift_scale = shifts() ? row_scale() : T(0);
    sum_ = scale_ = zero_column<B, double>();
    unscaled_ = below_ = above_ = zero_column<B, T>();
    for (int t = 0; t < entries_; ++t) {
      if (inside(t)) {
        entry(t, shift_scale);
      } else if (!plan_.diagonal_only) {
        std::fill_n(view_.F[t] + point_ * bb, bb, T(0));
      }
    }
    finish();
  }

 private:
  using C = BlockColumn<B, T>;
  using Wide = BlockColumn<B, double>;
  static constexpr int bb = B * B;
  static constexpr std::int64_t kept = B * C::padded;  // scalars of a block in the workspace

  bool shifts() const { return view_.rules.shift > 0; }
  bool has(std::int64_t shift) const { return !near_end_ || (i_ + shift >= 0 && i_ + shift < nx_); }
  bool inside(int e) const { return whole_ || (own_.targets[e].there && has(own_.targets[e].shift)); }
  /// A's block of entry e; one that may be read beyond its end.
  const T* of_A(int e, T* room) const {
    const T* block = view_.A[e] + point_ * bb;
    prefetch_block<B>(block, prefetched_ahead);
    return HWY_UNLIKELY(last_) ? copied(block, room) : block;
  }
  /// Not inlined: the compiler would put the copy's values together in registers, on everybody's way.
  static HWY_NOINLINE const T* copied(const T* block, T* room) { return block_copy<B, T>(block, room); }

  static void load_block(const T* p, C* columns) {
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) columns[c] = load_column<B, T>(p + c * B);
  }
  /// Ascending, so that the next column overwrites what was stored behind the last.
  static HWY_INLINE void store_block(const C* columns, T* p) {
#pragma GCC unroll 8
    for (int c = 0; c + 1 < B; ++c) store_padded<B, T>(columns[c], p + c * B);
    store_column<B, T>(columns[B - 1], p + (B - 1) * B);
  }

  /// In a local variable: a member would go through memory with every column.
  static HWY_INLINE void add_sizes(const C* columns, C& sums) {
    C sum = sums;
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) {
      for (int part = 0; part < C::parts; ++part) sum.part[part] = hn::Add(sum.part[part], hn::Abs(columns[c].part[part]));
    }
    sums = sum;
  }

  /// Row sums and the largest entry of A's block, in FP64. As a comparison: a NaN leaves the scale as it is.
  HWY_INLINE void measure(const T* block) {
    Wide sum = sum_, scale = scale_;
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) {
      const Wide column = load_column<B, double>(block + c * B);
      for (int part = 0; part < Wide::parts; ++part) {
        const auto size = hn::Abs(column.part[part]);
        sum.part[part] = hn::Add(sum.part[part], size);
        scale.part[part] = hn::IfThenElse(hn::Gt(size, scale.part[part]), size, scale.part[part]);
      }
    }
    sum_ = sum;
    scale_ = scale;
  }

  T* kept_block(int e) const { return own_.rows + e * kept; }
  HWY_INLINE void keep(const C* columns, int e) const {
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) store_padded<B, T>(columns[c], kept_block(e) + c * C::padded);
  }

  /// A's block, or zeros where fill begins.
  HWY_INLINE void load_entry(int t, T shift_scale, C* w) {
    HWY_ALIGN T room[block_room<B, T>];
    if (view_.A[t]) {
      const T* block = of_A(t, room);
      measure(block);
      if (t == plan_.center && shifts()) block = shifted_block(block, shift_scale, room);
      load_block(block, w);
    } else {
#pragma GCC unroll 8
      for (int c = 0; c < B; ++c) w[c] = zero_column<B, T>();
    }
  }

  HWY_INLINE void entry(int t, T shift_scale) {
    const LineTarget<T>& own = own_.targets[t];
    C w[B];
    load_entry(t, shift_scale, w);
    for (int p = own.first; p < own.last; ++p) {
      const LinePair<T>& pair = own_.pairs[p];
      if (has(pair.shift)) subtract_product(kept_block(pair.lower), pair.U + point_ * bb, w);
    }
    if (t == plan_.center) {
      keep(w, t);
    } else if (t > plan_.center) {
      add_sizes(w, above_);
      if (!plan_.diagonal_only) store_block(w, view_.F[t] + point_ * bb);
    } else {
      add_sizes(w, unscaled_);
      C L[B];
      scale(w, own.inverse + point_ * bb, L);
      add_sizes(L, below_);
      keep(L, t);
      if (!plan_.diagonal_only) store_block(L, view_.F[t] + point_ * bb);
    }
  }

  /// w ← w − L U
  static HWY_INLINE void subtract_product(const T* L, const T* U, C* w) {
#pragma GCC unroll 8
    for (int m = 0; m < B; ++m) {
      const C column = load_column<B, T>(L + m * C::padded);
#pragma GCC unroll 8
      for (int c = 0; c < B; ++c) subtract_scaled<B, T>(column, U[c * B + m], w[c]);
    }
  }

  /// L ← w D⁻¹
  static HWY_INLINE void scale(const C* w, const T* inverse, C* L) {
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) {
      L[c] = scaled_column<B, T>(w[0], inverse[c * B]);
#pragma GCC unroll 8
      for (int m = 1; m < B; ++m) add_scaled<B, T>(w[m], inverse[c * B + m], L[c]);
    }
  }

  const T* shifted_block(const T* block, T scale, T* room) const {
    if (block != room) block = block_copy<B, T>(block, room);
    for (int c = 0; c < B; ++c) room[c * B + c] = shifted(view_.rules, room[c * B + c], scale, own_);
    return room;
  }

  /// Of the rows of the block; NaN when one is.
  static double largest_lane(const Wide& lanes) {
    HWY_ALIGN double values[Wide::padded];
    store_padded<B, double>(lanes, values);
    double largest = 0;
    bool has_nan = false;
    for (int r = 0; r < B; ++r) {
      has_nan |= !(values[r] == values[r]);
      largest = values[r] > largest ? values[r] : largest;
    }
    return has_nan ? std::numeric_limits<double>::quiet_NaN() : largest;
  }

  /// The largest |a| of the row, before anything else is done.
  HWY_NOINLINE T row_scale() {
    HWY_ALIGN T room[block_room<B, T>];
    scale_ = sum_ = zero_column<B, double>();
    for (int e = 0; e < entries_; ++e) {
      if (view_.A[e] && inside(e)) measure(of_A(e, room));
    }
    return static_cast<T>(largest_lane(scale_));
  }

  HWY_NOINLINE bool row_is_nonfinite() const {
    for (int e = 0; e < entries_; ++e) {
      for (int s = 0; view_.A[e] && inside(e) && s < bb; ++s) {
        if (!(magnitude(view_.A[e][point_ * bb + s]) <= std::numeric_limits<T>::max())) return true;
      }
    }
    return false;
  }

  HWY_INLINE void invert_center(C* a) {
    T* inverse = view_.inverse + point_ * bb;
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) {
      a[c] = load_column<B, T>(static_cast<const T*>(kept_block(plan_.center) + c * C::padded));
    }
    store_block(a, own_.small + bb);
    const T smallest = invert_lanes<B, T>(a), scale = static_cast<T>(largest_lane(scale_));
    store_block(a, inverse);
    if (HWY_UNLIKELY(!pivot_is_good(view_.rules, smallest, scale) || view_.rules.positive)) {
      check_block_pivot(view_.rules, {point_, point_ * B}, B, inverse, smallest, scale, own_);
      HWY_ALIGN T room[block_room<B, T>];
      load_block(block_copy<B, T>(static_cast<const T*>(inverse), room), a);
    }
  }

  /// The pivot block's inverse, and what the row says about the whole matrix.
  void finish() {
    const double largest = largest_lane(sum_);
    note_row_sum(view_.rules, {point_, point_ * B}, largest, own_, [this] { return row_is_nonfinite(); });
    C a[B];
    invert_center(a);

    HWY_ALIGN T above[C::padded], unscaled[C::padded];
    store_padded<B, T>(above_, above);
    store_padded<B, T>(unscaled_, unscaled);
    C row_sums = zero_column<B, T>(), upper = zero_column<B, T>(), lower = zero_column<B, T>();
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) {
      for (int part = 0; part < C::parts; ++part) {
        a[c].part[part] = hn::Abs(a[c].part[part]);
        row_sums.part[part] = hn::Add(row_sums.part[part], a[c].part[part]);
      }
      add_scaled<B, T>(a[c], above[c], upper);
      add_scaled<B, T>(a[c], unscaled[c], lower);
    }
    for (int part = 0; part < C::parts; ++part) {
      const int at = part * C::width;
      raise(own_.lower_sums, below_.part[part], at);
      raise(own_.scaled_lower_sums, lower.part[part], at);
      raise(own_.upper_sums, upper.part[part], at);
      raise(own_.inverses, row_sums.part[part], at);
      // 0·x is NaN for what is not finite, and stays so in a sum.
      const auto sum = hn::IfThenElseZero(meant(at), hn::Add(below_.part[part], upper.part[part]));
      const typename C::D d;
      hn::Store(hn::MulAdd(hn::Zero(d), sum, hn::Load(d, own_.poison + at)), d, own_.poison + at);
    }
  }

  static auto meant(int at) { return hn::FirstN(typename C::D(), static_cast<std::size_t>(std::max(0, B - at))); }
  static void raise(T* largest, typename C::V value, int at) {
    const typename C::D d;
    hn::Store(hn::Max(hn::Load(d, largest + at), hn::IfThenElseZero(meant(at), value)), d, largest + at);
  }

  const StructFactorView<T>& view_;
  const EliminationPlan& plan_;
  const int entries_;
  const std::int64_t nx_, base_;
  std::int64_t left_ = 0, right_ = 1;  // the last point of a line is always near its end
  StructFactorWorkspace<T>& own_;
  bool all_there_ = false, near_end_ = false, whole_ = false, last_ = false;
  std::int64_t i_ = 0, point_ = 0;
  Wide sum_, scale_;  // of |A|'s rows
  C below_, above_;   // row sums of |L| and |U| beside the diagonal
  C unscaled_;        // of |L| before it is scaled by D⁻¹
};

template <int B, class T>
void factor_block_lines(const StructFactorView<T>& view, const LineWork& work, StructFactorWorkspace<T>& own) {
  BlockFactorLine<B, T> line(view, work, own);
  const std::int64_t end = std::min<std::int64_t>(work.end * block_factor_shape.width, view.grid.nx);
  for (std::int64_t i = work.begin * block_factor_shape.width; i < end; ++i) line.point(i);
}

#endif

/// Null where this target has no such kernel.
template <int B, class T>
StructFactorKernel<T> block_factor() {
#if ECHELON_BLOCK_LANES
  return {&factor_block_lines<B, T>, block_factor_shape, true, B * BlockColumn<B, T>::padded};
#else
  return {};
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
