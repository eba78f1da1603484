// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) in diagonal block rows, compiled once an instruction set. Lanes do not meet, so a register of a block row is
// eliminated by itself, a block's sum in a register; the factors L_p of the row stay in the first-level cache. In the lanes
// where a factor is 0 for its shift, what stands there of U is multiplied by it: some finite value of another block.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/dbsr/dbsr_ilu_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "echelon/factor/dbsr/dbsr_ilu.hpp"
#include "echelon/matrix/dbsr/dbsr_row.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

/// Lanes of the register that begins at `lane` whose bit is set.
template <class D>
HWY_INLINE hn::Mask<D> lanes_in(D d, std::uint64_t bits, std::int64_t lane) {
  const std::uint64_t own = bits >> lane;
  std::uint8_t bytes[sizeof(own)];
  std::memcpy(bytes, &own, sizeof(own));  // Highway's targets are little-endian
  return hn::LoadMaskBits(d, bytes);
}

/// v, and 0 in the lanes without an entry. Few blocks lack one.
template <int B, class D, class V>
HWY_INLINE V kept(D d, std::uint64_t bits, std::int64_t lane, V v) {
  constexpr std::uint64_t all = ~std::uint64_t{0} >> (64 - B);
  return HWY_LIKELY(bits == all) ? v : hn::IfThenElseZero(lanes_in(d, bits, lane), v);
}

template <int B, class T>
class BlockRowFactor {
 public:
  BlockRowFactor(const DbsrFactorView<T>& view, DbsrFactorWorkspace<T>& own, std::int64_t begin)
      : f_(view), own_(own), begin_(begin) {}

  HWY_INLINE void run(std::int64_t row) {
    const hn::CappedTag<T, B> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    row_ = row;
    lower_begin_ = f_.A.lower.blk_ptr[row];
    lower_count_ = f_.A.lower.blk_ptr[row + 1] - lower_begin_;
    upper_begin_ = f_.A.upper.blk_ptr[row];
    upper_count_ = f_.A.upper.blk_ptr[row + 1] - upper_begin_;
    ask_for(row + 1);
    for (std::int64_t lane = 0; lane < B; lane += lanes) run_register(d, lane);
  }

 private:
  template <class D>
  HWY_INLINE void run_register(D d, std::int64_t lane) {
    measure(d, lane);
    const std::uint16_t* plan = f_.plan + f_.plan_start[row_];
    plan = lower_blocks(d, lane, plan);
    HWY_ALIGN T pivots[width];
    auto pivot = hn::LoadU(d, f_.A.diagonal + row_ * B + lane);
    if (f_.rules.shift > 0) {
      hn::Store(pivot, d, pivots);
      for (std::int64_t l = 0; l < static_cast<std::int64_t>(hn::Lanes(d)); ++l) {
        if (f_.point[row_ * B + lane + l] >= 0) pivots[l] = shifted(f_.rules, pivots[l], scale_[l], own_);
      }
      pivot = hn::Load(d, pivots);
    }
    hn::Store(reduced(d, lane, pivot, plan), d, pivots);
    const auto inverse = invert(d, lane, pivots);
    hn::StoreU(inverse, d, f_.inverse + row_ * B + lane);
    upper_blocks(d, lane, plan, inverse);
  }

  /// What a row meets of earlier colours comes from anywhere in memory: it is asked for a row ahead.
  HWY_INLINE void ask_for(std::int64_t row) {
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t p = f_.A.lower.blk_ptr[row]; p < f_.A.lower.blk_ptr[row + 1]; ++p) {
      const std::int64_t met = f_.A.lower.blk_ind[p];
      if (met >= begin_) break;
      const std::int64_t end = f_.A.upper.blk_ptr[met + 1] * B;
      for (std::int64_t at = f_.A.upper.blk_ptr[met] * B; at < end; at += line) __builtin_prefetch(f_.upper + at);
    }
  }

  /// The largest entries of the rows of A, and the sums of their sizes.
  template <class D>
  HWY_INLINE void measure(D d, std::int64_t lane) {
    const T* lower = static_cast<const T*>(f_.A.lower.values) + lower_begin_ * B + lane;
    const T* upper = static_cast<const T*>(f_.A.upper.values) + upper_begin_ * B + lane;
    auto largest = hn::Abs(hn::LoadU(d, f_.A.diagonal + row_ * B + lane));
    auto sum = largest;
    const auto take = [&](const T* from, std::int64_t blocks) {
      for (std::int64_t e = 0; e < blocks; ++e) {
        __builtin_prefetch(reinterpret_cast<const char*>(from + e * B) + dbsr_ahead, 0, 2);
        const auto size = hn::Abs(hn::LoadU(d, from + e * B));
        largest = hn::Max(largest, size);
        sum = hn::Add(sum, size);
      }
    };
    take(lower, lower_count_);
    take(upper, upper_count_);
    hn::Store(largest, d, scale_);
    hn::Store(sum, d, sum_);
  }

  /// sum − Σ factor · U_r over the products of the next block, whose list `plan` stands at and then is behind.
  template <class D>
  HWY_INLINE hn::Vec<D> reduced(D d, std::int64_t lane, hn::Vec<D> sum, const std::uint16_t*& plan) {
    const std::uint16_t* const end = plan + 1 + 2 * *plan;
    for (++plan; plan != end; plan += 2) {
      const auto factor = hn::Load(d, own_.factors + std::int64_t{plan[0]} * B + lane);
      sum = fused<true>(d, factor, hn::LoadU(d, own_.met[plan[0]] + std::int64_t{plan[1]} * B + lane), sum);
    }
    return sum;
  }

  template <class D>
  HWY_INLINE const std::uint16_t* lower_blocks(D d, std::int64_t lane, const std::uint16_t* plan) {
    const T* a = static_cast<const T*>(f_.A.lower.values) + lower_begin_ * B + lane;
    auto below = hn::Zero(d);
    std::size_t factor = 0;
    for (std::int64_t e = 0; e < lower_count_; ++e) {
      const std::int64_t p = lower_begin_ + e, met = f_.A.lower.blk_ind[p];
      const int moved = B > 1 ? f_.A.lower.blk_offset[p] : 0;
      const auto w = kept<B>(d, f_.lower_lanes[p], lane, reduced(d, lane, hn::LoadU(d, a + e * B), plan));
      const auto l = hn::Mul(w, hn::LoadU(d, f_.inverse + met * B + moved + lane));
      hn::StoreU(l, d, f_.lower + p * B + lane);
      below = hn::Add(below, hn::Abs(l));
      T* to = own_.factors + static_cast<std::int64_t>(factor) * B + lane;
      own_.met[factor++] = f_.upper + f_.A.upper.blk_ptr[met] * B + moved;
      if (moved == 0) {
        hn::Store(l, d, to);
        continue;
      }
      const auto first = hn::FirstN(d, static_cast<std::size_t>(std::max<std::int64_t>(0, B - moved - lane)));
      hn::Store(hn::IfThenElseZero(first, l), d, to);
      own_.met[factor++] = f_.upper + (f_.A.upper.blk_ptr[met + 1] - 1) * B + moved;
      hn::Store(hn::IfThenZeroElse(first, l), d, to + B);
    }
    hn::Store(below, d, below_);
    return plan;
  }

  /// D⁻¹ by the pivot rules, 0 in padding. A register of pivots that are good beyond doubt, as nearly all are, is divided
  /// at once: each passes the rules' own test when it is above twice its tolerance.
  template <class D>
  HWY_INLINE hn::Vec<D> invert(D d, std::int64_t lane, const T* pivots) {
    const auto most = hn::Set(d, std::numeric_limits<T>::max()), pivot = hn::Load(d, pivots), sum = hn::Load(d, sum_);
    const auto size = hn::Abs(pivot),
               bound = hn::Mul(hn::Set(d, static_cast<T>(2 * f_.rules.tolerance)), hn::Load(d, scale_));
    const auto signed_size = f_.rules.positive ? pivot : size;
    const auto good = hn::And(hn::And(hn::Gt(signed_size, bound), hn::Le(size, most)), hn::Le(sum, most));
    if (HWY_LIKELY(hn::AllTrue(d, good))) {
      hn::Store(hn::Max(hn::Load(d, norm_), sum), d, norm_);
      return hn::Div(hn::Set(d, T(1)), pivot);
    }
    return invert_one_by_one(d, lane, pivots);
  }

  template <class D>
  HWY_NOINLINE hn::Vec<D> invert_one_by_one(D d, std::int64_t lane, const T* pivots) {
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
  HWY_INLINE void upper_blocks(D d, std::int64_t lane, const std::uint16_t* plan, hn::Vec<D> inverse) {
    const T* a = static_cast<const T*>(f_.A.upper.values) + upper_begin_ * B + lane;
    auto above = hn::Zero(d);
    for (std::int64_t e = 0; e < upper_count_; ++e) {
      const auto w = reduced(d, lane, hn::LoadU(d, a + e * B), plan);
      const auto u = kept<B>(d, f_.upper_lanes[upper_begin_ + e], lane, w);
      hn::StoreU(u, d, f_.upper + (upper_begin_ + e) * B + lane);
      above = hn::Add(above, hn::Abs(u));
    }
    // Sums of rows for the bounds, lane by lane; what is not finite makes `poison_` NaN.
    const auto below = hn::Load(d, below_), size = hn::Abs(inverse), product = hn::Mul(above, size);
    hn::Store(hn::Max(hn::Load(d, bounds_[0]), below), d, bounds_[0]);
    hn::Store(hn::Max(hn::Load(d, bounds_[1]), product), d, bounds_[1]);
    hn::Store(hn::Max(hn::Load(d, bounds_[2]), size), d, bounds_[2]);
    const auto all = hn::Add(below, hn::Add(product, size));
    hn::Store(hn::Add(hn::Load(d, poison_), hn::Mul(all, hn::Zero(d))), d, poison_);
  }

 public:
  /// What the lanes gathered.
  void finish() {
    for (std::size_t l = 0; l < width; ++l) {
      own_.norm = std::max(own_.norm, static_cast<double>(norm_[l]));
      own_.bounds.lower = std::max(own_.bounds.lower, static_cast<double>(bounds_[0][l]));
      own_.bounds.upper = std::max(own_.bounds.upper, static_cast<double>(bounds_[1][l]));
      own_.bounds.inverse = std::max(own_.bounds.inverse, static_cast<double>(bounds_[2][l]));
      own_.bounds.finite = own_.bounds.finite && poison_[l] == 0;
    }
  }

 private:
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
  std::int64_t begin_, row_ = 0, lower_begin_ = 0, lower_count_ = 0, upper_begin_ = 0, upper_count_ = 0;
  HWY_ALIGN T scale_[width], sum_[width], below_[width];
  HWY_ALIGN T norm_[width] = {}, bounds_[3][width] = {}, poison_[width] = {};
};

template <int B, class T>
void factor_block_rows(const DbsrFactorView<T>& view, std::int64_t begin, std::int64_t end, DbsrFactorWorkspace<T>& own) {
  BlockRowFactor<B, T> factor(view, own, begin);
  for (std::int64_t row = begin; row < end; ++row) factor.run(row);
  factor.finish();
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
