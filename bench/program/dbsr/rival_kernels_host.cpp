// SPDX-License-Identifier: BSD-3-Clause
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/program/dbsr/rival_kernels_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "bench/program/dbsr/rival_kernels.hpp"
#include "echelon/matrix/dbsr/dbsr_row.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void factor_rows(const CsrFactorView<T>& view, std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last,
                 std::int32_t* where, T* row) {
  const CsrFactorView<T> a = view;
  const std::int64_t n = a.rows;
  for (std::int64_t i = begin; i < end; ++i) {
    std::int32_t entries = 0, lower = 0;
    for (std::int64_t p = a.start[i]; p < a.start[i + 1]; ++p) {
      const std::int32_t j = a.column[p];
      if (j < first || j >= last) continue;
      if (j < i) ++lower;
      row[entries] = a.value[p];
      where[j] = entries++;
    }
    const std::int64_t l = a.lower_start[i], u = a.upper_start[n - 1 - i];
    for (std::int32_t e = 0; e < lower; ++e) {
      const std::int64_t k = i - a.lower_distance[l + e], s = n - 1 - k;
      const T factor = row[e] * a.inverse[k];
      a.lower[l + e] = factor;
      for (std::int64_t q = a.upper_start[s]; q < a.upper_start[s + 1]; ++q) {
        const std::int32_t at = where[k + a.upper_distance[q]];
        if (at >= 0) row[at] = fma(-factor, a.upper[q], row[at]);
      }
    }
    a.inverse[i] = T(1) / row[lower];
    for (std::int32_t e = lower + 1; e < entries; ++e) a.upper[u + e - lower - 1] = row[e];
    for (std::int32_t e = 0; e < lower; ++e) where[i - a.lower_distance[l + e]] = -1;
    where[i] = -1;
    for (std::int32_t e = lower + 1; e < entries; ++e) where[i + a.upper_distance[u + e - lower - 1]] = -1;
  }
}

/// Lanes that a scalar loop keeps in registers together.
template <int B>
inline constexpr int together = B < 8 ? B : 8;

template <int B, bool ascending, bool negate, class T>
HWY_INLINE void plain_block_row(const DbsrTriangleView& t, std::int64_t row, std::int64_t lane, const T* x, T* sum) {
  constexpr int G = together<B>;
  const std::int64_t begin = t.blk_ptr[row], end = t.blk_ptr[row + 1];
  const T* values = static_cast<const T*>(t.values);
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t e = ascending ? n : begin + end - 1 - n;
    const std::int64_t at = std::int64_t{t.blk_ind[e]} * B + t.blk_offset[e] + lane;
    const T* a = values + e * B + lane;
    if constexpr (B * sizeof(T) >= 32) {
      __builtin_prefetch(reinterpret_cast<const char*>(a) + (ascending ? dbsr_ahead : -dbsr_ahead), 0, 2);
    }
    for (int l = 0; l < G; ++l) sum[l] = fma(negate ? -a[l] : a[l], x[at + l], sum[l]);
  }
}

template <int B, class T>
void plain_lower(const DbsrSweepView<T>& view, std::int64_t begin, std::int64_t end) {
  constexpr int G = together<B>;
  const DbsrSweepView<T> v = view;
  for (std::int64_t row = begin; row < end; ++row) {
    for (int lane = 0; lane < B; lane += G) {
      const std::int64_t own = row * B + lane;
      T sum[G];
      for (int l = 0; l < G; ++l) sum[l] = v.r[own + l];
      plain_block_row<B, true, true>(v.lower, row, lane, v.x, sum);
      for (int l = 0; l < G; ++l) v.x[own + l] = sum[l];
    }
  }
}

template <int B, class T>
void plain_upper(const DbsrSweepView<T>& view, std::int64_t begin, std::int64_t end) {
  constexpr int G = together<B>;
  const DbsrSweepView<T> v = view;
  const T* inverse = static_cast<const T*>(v.inverse);
  for (std::int64_t row = end - 1; row >= begin; --row) {
    for (int lane = 0; lane < B; lane += G) {
      const std::int64_t own = row * B + lane;
      T sum[G];
      for (int l = 0; l < G; ++l) sum[l] = v.r[own + l];
      plain_block_row<B, false, true>(v.upper, row, lane, v.x, sum);
      for (int l = 0; l < G; ++l) v.x[own + l] = sum[l] * inverse[own + l];
    }
  }
}

template <int B, class T>
void plain_multiply(const DbsrView<T>& A, const T* x, T* y, std::int64_t begin, std::int64_t end) {
  constexpr int G = together<B>;
  for (std::int64_t row = begin; row < end; ++row) {
    for (int lane = 0; lane < B; lane += G) {
      const std::int64_t own = row * B + lane;
      T sum[G] = {};
      plain_block_row<B, true, false>(A.lower, row, lane, x, sum);
      for (int l = 0; l < G; ++l) sum[l] = fma(A.diagonal[own + l], x[own + l], sum[l]);
      plain_block_row<B, true, false>(A.upper, row, lane, x, sum);
      for (int l = 0; l < G; ++l) y[own + l] = sum[l];
    }
  }
}

/// x at the columns of 32 bits in p.
template <class D>
HWY_INLINE hn::Vec<D> gathered(D d, const hn::TFromD<D>* x, const std::int32_t* p) {
  const hn::RebindToSigned<D> di;
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::GatherIndex(d, x, hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::int32_t, D>(), p)));
  } else {
    return hn::GatherIndex(d, x, hn::LoadU(di, p));
  }
}

template <int B, bool ascending, class D, class V>
HWY_INLINE V gathering_block_row(D d, const DbsrTriangleView& t, std::int64_t row, std::int64_t lane, const hn::TFromD<D>* x,
                                 V s) {
  using T = hn::TFromD<D>;
  using Index = hn::TFromD<hn::RebindToSigned<D>>;
  const hn::RebindToSigned<D> di;
  const std::int64_t begin = t.blk_ptr[row], end = t.blk_ptr[row + 1];
  const T* values = static_cast<const T*>(t.values);
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t e = ascending ? n : begin + end - 1 - n;
    const std::int64_t at = std::int64_t{t.blk_ind[e]} * B + t.blk_offset[e] + lane;
    const T* a = values + e * B + lane;
    if constexpr (B * sizeof(T) >= 32) {
      __builtin_prefetch(reinterpret_cast<const char*>(a) + (ascending ? dbsr_ahead : -dbsr_ahead), 0, 2);
    }
    const auto index = hn::Iota(di, static_cast<Index>(at));
    s = echelon::HWY_NAMESPACE::fused<true>(d, hn::LoadU(d, a), hn::GatherIndex(d, x, index), s);
  }
  return s;
}

template <int B, bool lower, class T>
void gathering_rows(const DbsrSweepView<T>& view, std::int64_t begin, std::int64_t end) {
  const DbsrSweepView<T> v = view;
  const hn::CappedTag<T, B> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t row = lower ? n : begin + end - 1 - n;
    for (std::int64_t lane = 0; lane < B; lane += lanes) {
      const std::int64_t own = row * B + lane;
      auto sum = gathering_block_row<B, lower>(d, lower ? v.lower : v.upper, row, lane, v.x, hn::LoadU(d, v.r + own));
      if constexpr (!lower) sum = hn::Mul(sum, hn::LoadU(d, static_cast<const T*>(v.inverse) + own));
      hn::StoreU(sum, d, v.x + own);
    }
  }
}

template <int B, bool lower, class T>
void sell_rows(const SellSweepView<T>& view, std::int64_t begin, std::int64_t end) {
  const SellSweepView<T> v = view;
  const SellTriangleView t = lower ? v.lower : v.upper;
  const T* values = static_cast<const T*>(t.values);
  const hn::CappedTag<T, B> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t row = lower ? n : begin + end - 1 - n;
    for (std::int64_t lane = 0; lane < B; lane += lanes) {
      const std::int64_t own = row * B + lane;
      auto sum = hn::LoadU(d, v.r + own);
      for (std::int64_t e = t.start[row]; e < t.start[row + 1]; ++e) {
        const auto x = gathered(d, v.x, t.column + e * B + lane);
        sum = echelon::HWY_NAMESPACE::fused<true>(d, hn::LoadU(d, values + e * B + lane), x, sum);
      }
      if constexpr (!lower) sum = hn::Mul(sum, hn::LoadU(d, v.inverse + own));
      hn::StoreU(sum, d, v.x + own);
    }
  }
}

template <int B, bool lower, class T>
void plain_sell_rows(const SellSweepView<T>& view, std::int64_t begin, std::int64_t end) {
  constexpr int G = together<B>;
  const SellSweepView<T> v = view;
  const SellTriangleView t = lower ? v.lower : v.upper;
  const T* values = static_cast<const T*>(t.values);
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t row = lower ? n : begin + end - 1 - n;
    for (int lane = 0; lane < B; lane += G) {
      const std::int64_t own = row * B + lane;
      T sum[G];
      for (int l = 0; l < G; ++l) sum[l] = v.r[own + l];
      for (std::int64_t e = t.start[row]; e < t.start[row + 1]; ++e) {
        const T* a = values + e * B + lane;
        const std::int32_t* column = t.column + e * B + lane;
        for (int l = 0; l < G; ++l) sum[l] = fma(-a[l], v.x[column[l]], sum[l]);
      }
      for (int l = 0; l < G; ++l) v.x[own + l] = lower ? sum[l] : sum[l] * v.inverse[own + l];
    }
  }
}

template <class Result, class Make>
Result for_bsize(int bsize, const Make& make) {
  switch (bsize) {
    case 1: return make.template operator()<1>();
    case 2: return make.template operator()<2>();
    case 4: return make.template operator()<4>();
    case 8: return make.template operator()<8>();
    case 16: return make.template operator()<16>();
    case 32: return make.template operator()<32>();
    case 64: return make.template operator()<64>();
    default: return {};
  }
}

template <class T>
RivalDbsrKernels<T> plain_of(int bsize) {
  return for_bsize<RivalDbsrKernels<T>>(bsize, []<int B>() {
    RivalDbsrKernels<T> all;
    all.sweeps.lower = plain_lower<B, T>;
    all.sweeps.upper = plain_upper<B, T>;
    all.multiply = plain_multiply<B, T>;
    return all;
  });
}
template <class T>
DbsrSweepKernels<T> gathering_of(int bsize) {
  return for_bsize<DbsrSweepKernels<T>>(bsize, []<int B>() {
    return DbsrSweepKernels<T>{gathering_rows<B, true, T>, gathering_rows<B, false, T>};
  });
}
template <class T>
SellSweepKernels<T> sell_of(int bsize, bool simd) {
  return for_bsize<SellSweepKernels<T>>(bsize, [simd]<int B>() {
    if (simd) return SellSweepKernels<T>{sell_rows<B, true, T>, sell_rows<B, false, T>};
    return SellSweepKernels<T>{plain_sell_rows<B, true, T>, plain_sell_rows<B, false, T>};
  });
}

CsrFactorRows<double> factor_doubles() { return factor_rows<double>; }
CsrFactorRows<float> factor_floats() { return factor_rows<float>; }
RivalDbsrKernels<double> plain_doubles(int bsize) { return plain_of<double>(bsize); }
RivalDbsrKernels<float> plain_floats(int bsize) { return plain_of<float>(bsize); }
DbsrSweepKernels<double> gathering_doubles(int bsize) { return gathering_of<double>(bsize); }
DbsrSweepKernels<float> gathering_floats(int bsize) { return gathering_of<float>(bsize); }
SellSweepKernels<double> sell_doubles(int bsize, bool simd) { return sell_of<double>(bsize, simd); }
SellSweepKernels<float> sell_floats(int bsize, bool simd) { return sell_of<float>(bsize, simd); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon::bench {
HWY_EXPORT(factor_doubles);
HWY_EXPORT(factor_floats);
HWY_EXPORT(plain_doubles);
HWY_EXPORT(plain_floats);
HWY_EXPORT(gathering_doubles);
HWY_EXPORT(gathering_floats);
HWY_EXPORT(sell_doubles);
HWY_EXPORT(sell_floats);

template <>
CsrFactorRows<double> csr_factor_rows<double>() {
  return HWY_DYNAMIC_DISPATCH(factor_doubles)();
}
template <>
CsrFactorRows<float> csr_factor_rows<float>() {
  return HWY_DYNAMIC_DISPATCH(factor_floats)();
}
template <>
RivalDbsrKernels<double> plain_dbsr_kernels<double>(int bsize) {
  return HWY_DYNAMIC_DISPATCH(plain_doubles)(bsize);
}
template <>
RivalDbsrKernels<float> plain_dbsr_kernels<float>(int bsize) {
  return HWY_DYNAMIC_DISPATCH(plain_floats)(bsize);
}
template <>
DbsrSweepKernels<double> gathering_dbsr_kernels<double>(int bsize) {
  return HWY_DYNAMIC_DISPATCH(gathering_doubles)(bsize);
}
template <>
DbsrSweepKernels<float> gathering_dbsr_kernels<float>(int bsize) {
  return HWY_DYNAMIC_DISPATCH(gathering_floats)(bsize);
}
template <>
SellSweepKernels<double> sell_kernels<double>(int bsize, bool simd) {
  return HWY_DYNAMIC_DISPATCH(sell_doubles)(bsize, simd);
}
template <>
SellSweepKernels<float> sell_kernels<float>(int bsize, bool simd) {
  return HWY_DYNAMIC_DISPATCH(sell_floats)(bsize, simd);
}

}  // namespace echelon::bench
#endif
