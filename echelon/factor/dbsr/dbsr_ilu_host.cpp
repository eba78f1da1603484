// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) in diagonal block rows, compiled once an instruction set. Lanes do not meet, so a register of a block row is
// eliminated by itself, in a row of scratch that stays in the first-level cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/dbsr/dbsr_ilu_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "echelon/factor/dbsr/dbsr_ilu.hpp"
#include "echelon/matrix/dbsr/dbsr_row.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

/// Lanes of the register that begins at `lane` whose bit is set.
template <class D>
HWY_INLINE hn::Mask<D> lanes_in(D d, std::uint64_t bits, std::int64_t lane) {
  const std::uint64_t own = bits >> lane;
  std::uint8_t bytes[8];
  for (int b = 0; b < 8; ++b) bytes[b] = static_cast<std::uint8_t>(own >> (8 * b));
  return hn::LoadMaskBits(d, bytes);
}

/// w_q ← w_q − l·U_r for the pairs of one part; `part` are the lanes that it is about, all when not `shifted`.
template <bool shifted, int B, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE const std::uint16_t* subtract_pairs(D d, const std::uint16_t* plan, V l, const T* upper, hn::Mask<D> part, T* w) {
  const int count = *plan++;
  for (int n = 0; n < count; ++n, plan += 2) {
    auto u = hn::LoadU(d, upper + std::int64_t{plan[0]} * B);
    if constexpr (shifted) u = hn::IfThenElseZero(part, u);
    T* target = w + std::int64_t{plan[1]} * B;
    hn::Store(fused<true>(d, l, u, hn::Load(d, target)), d, target);
  }
  return plan;
}

template <int B, class T>
class BlockRowFactor {
 public:
  BlockRowFactor(const DbsrFactorView<T>& view, DbsrFactorWorkspace<T>& own) : f_(view), own_(own) {}

  HWY_INLINE void run(std::int64_t row) {
    const hn::CappedTag<T, B> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    row_ = row;
    lower_begin_ = f_.A.lower.blk_ptr[row];
    lower_count_ = f_.A.lower.blk_ptr[row + 1] - lower_begin_;
    upper_begin_ = f_.A.upper.blk_ptr[row];
    upper_count_ = f_.A.upper.blk_ptr[row + 1] - upper_begin_;
    for (std::int64_t lane = 0; lane < B; lane += lanes) run_register(d, lane);
  }

 private:
  template <class D>
  HWY_INLINE void run_register(D d, std::int64_t lane) {
    T* w = own_.row + lane;
    load(d, lane, w);
    if (f_.rules.shift > 0) {
      T* diagonal = w + lower_count_ * B;
      for (std::int64_t l = 0; l < static_cast<std::int64_t>(hn::Lanes(d)); ++l) {
        if (f_.point[row_ * B + lane + l] >= 0) diagonal[l] = shifted(f_.rules, diagonal[l], scale_[l], own_);
      }
    }
    eliminate(d, lane, w);
    const auto inverse = invert(d, lane, w + lower_count_ * B);
    hn::StoreU(inverse, d, f_.inverse + row_ * B + lane);
    store_upper(d, lane, w + (lower_count_ + 1) * B, inverse);
  }

  /// w ← the rows of A; their largest entries and sums of sizes.
  template <class D>
  HWY_INLINE void load(D d, std::int64_t lane, T* w) {
    const T* lower = static_cast<const T*>(f_.A.lower.values) + lower_begin_ * B + lane;
    const T* upper = static_cast<const T*>(f_.A.upper.values) + upper_begin_ * B + lane;
    auto largest = hn::Zero(d), sum = hn::Zero(d);
    const auto take = [&](const T* from, T* to) {
      const auto a = hn::LoadU(d, from);
      hn::Store(a, d, to);
      const auto size = hn::Abs(a);
      largest = hn::Max(largest, size);
      sum = hn::Add(sum, size);
    };
    for (std::int64_t e = 0; e < lower_count_; ++e) {
      __builtin_prefetch(reinterpret_cast<const char*>(lower + e * B) + dbsr_ahead, 0, 2);
      take(lower + e * B, w + e * B);
    }
    take(f_.A.diagonal + row_ * B + lane, w + lower_count_ * B);
    for (std::int64_t e = 0; e < upper_count_; ++e) {
      __builtin_prefetch(reinterpret_cast<const char*>(upper + e * B) + dbsr_ahead, 0, 2);
      take(upper + e * B, w + (lower_count_ + 1 + e) * B);
    }
    hn::Store(largest, d, scale_);
    hn::Store(sum, d, sum_);
  }

  template <class D>
  HWY_INLINE void eliminate(D d, std::int64_t lane, T* w) {
    const std::uint16_t* plan = f_.plan + f_.plan_start[row_];
    auto below = hn::Zero(d);
    for (std::int64_t e = 0; e < lower_count_; ++e) {
      const std::int64_t p = lower_begin_ + e, met = f_.A.lower.blk_ind[p];
      const int moved = B > 1 ? f_.A.lower.blk_offset[p] : 0;
      T* at = w + e * B;
      const auto kept = hn::IfThenElseZero(lanes_in(d, f_.lower_lanes[p], lane), hn::Load(d, at));
      const auto l = hn::Mul(kept, hn::LoadU(d, f_.inverse + met * B + moved + lane));
      hn::StoreU(l, d, f_.lower + p * B + lane);
      below = hn::Add(below, hn::Abs(l));
      const T* upper = f_.upper + f_.A.upper.blk_ptr[met] * B + lane + moved;
      if (moved == 0) {
        plan = subtract_pairs<false, B>(d, plan, l, upper, hn::Mask<D>(), w);
        continue;
      }
      const auto first = hn::FirstN(d, static_cast<std::size_t>(std::max<std::int64_t>(0, B - moved - lane)));
      plan = subtract_pairs<true, B>(d, plan, l, upper, first, w);
      upper = f_.upper + (f_.A.upper.blk_ptr[met + 1] - 1) * B + lane + moved;
      plan = subtract_pairs<true, B>(d, plan, l, upper, hn::Not(first), w);
    }
    hn::Store(below, d, below_);
  }

  /// D⁻¹ by the pivot rules, 0 in padding.
  template <class D>
  HWY_INLINE hn::Vec<D> invert(D d, std::int64_t lane, T* pivots) {
    HWY_ALIGN T inverse[width] = {};
    for (std::int64_t l = 0; l < static_cast<std::int64_t>(hn::Lanes(d)); ++l) {
      const std::int64_t position = row_ * B + lane + l;
      if (f_.point[position] < 0) continue;
      const PivotPlace place{position, f_.point[position]};
      note_row_sum(f_.rules, place, static_cast<double>(sum_[l]), own_, [&] { return has_nonfinite(lane + l); });
      T pivot = pivots[l];
      if (!pivot_is_good(f_.rules, pivot, scale_[l])) pivot = repaired_pivot(f_.rules, place, pivot, scale_[l], own_);
      inverse[l] = T(1) / pivot;
    }
    return hn::Load(d, inverse);
  }

  template <class D>
  HWY_INLINE void store_upper(D d, std::int64_t lane, const T* w, hn::Vec<D> inverse) {
    auto above = hn::Zero(d);
    for (std::int64_t e = 0; e < upper_count_; ++e) {
      const auto u = hn::IfThenElseZero(lanes_in(d, f_.upper_lanes[upper_begin_ + e], lane), hn::Load(d, w + e * B));
      hn::StoreU(u, d, f_.upper + (upper_begin_ + e) * B + lane);
      above = hn::Add(above, hn::Abs(u));
    }
    HWY_ALIGN T sums[width], inverses[width];
    hn::Store(above, d, sums);
    hn::Store(inverse, d, inverses);
    for (std::int64_t l = 0; l < static_cast<std::int64_t>(hn::Lanes(d)); ++l) {
      own_.bounds.include(static_cast<double>(below_[l]), static_cast<double>(sums[l]), static_cast<double>(inverses[l]));
    }
  }

  bool has_nonfinite(std::int64_t lane) const {
    const auto bad = [](T value) { return !(magnitude(value) <= std::numeric_limits<T>::max()); };
    const T* lower = static_cast<const T*>(f_.A.lower.values) + lower_begin_ * B + lane;
    const T* upper = static_cast<const T*>(f_.A.upper.values) + upper_begin_ * B + lane;
    for (std::int64_t e = 0; e < lower_count_; ++e) {
      if (bad(lower[e * B])) return true;
    }
    for (std::int64_t e = 0; e < upper_count_; ++e) {
      if (bad(upper[e * B])) return true;
    }
    return bad(f_.A.diagonal[row_ * B + lane]);
  }

  static constexpr std::size_t width = HWY_MAX_BYTES / sizeof(T);
  const DbsrFactorView<T> f_;
  DbsrFactorWorkspace<T>& own_;
  std::int64_t row_ = 0, lower_begin_ = 0, lower_count_ = 0, upper_begin_ = 0, upper_count_ = 0;
  HWY_ALIGN T scale_[width], sum_[width], below_[width];
};

template <int B, class T>
void factor_block_rows(const DbsrFactorView<T>& view, std::int64_t begin, std::int64_t end, DbsrFactorWorkspace<T>& own) {
  BlockRowFactor<B, T> factor(view, own);
  for (std::int64_t row = begin; row < end; ++row) factor.run(row);
}

template <class T>
DbsrFactorKernel<T> factor_by_bsize(int bsize) {
  switch (bsize) {
    case 1: return factor_block_rows<1, T>;
    case 2: return factor_block_rows<2, T>;
    case 4: return factor_block_rows<4, T>;
    case 8: return factor_block_rows<8, T>;
    case 16: return factor_block_rows<16, T>;
    case 32: return factor_block_rows<32, T>;
    case 64: return factor_block_rows<64, T>;
    default: return nullptr;
  }
}
DbsrFactorKernel<double> factor_of_doubles(int bsize) { return factor_by_bsize<double>(bsize); }
DbsrFactorKernel<float> factor_of_floats(int bsize) { return factor_by_bsize<float>(bsize); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_of_doubles);
HWY_EXPORT(factor_of_floats);

template <>
DbsrFactorKernel<double> dbsr_factor_kernel<double>(int bsize) {
  return HWY_DYNAMIC_DISPATCH(factor_of_doubles)(bsize);
}
template <>
DbsrFactorKernel<float> dbsr_factor_kernel<float>(int bsize) {
  return HWY_DYNAMIC_DISPATCH(factor_of_floats)(bsize);
}

}  // namespace echelon
#endif
