// SPDX-License-Identifier: BSD-3-Clause
// Loads and multiply-add for the SIMD kernels, once for each target (include it inside a foreach_target file, after
// highway.h).
// Coefficients may be stored more narrowly than the arithmetic: FP32, BF16 or FP16 under FP64; widening is exact.
#include <hwy/highway.h>

#if defined(ECHELON_BASE_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_BASE_SIMD_INL
#undef ECHELON_BASE_SIMD_INL
#else
#define ECHELON_BASE_SIMD_INL
#endif

#include <cstddef>
#include <cstdint>

#include "echelon/base/fma.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lanes(d) values from p, widened to d's type.
template <class D, class S>
HWY_INLINE hn::Vec<D> load_as(D d, const S* p) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(S) == sizeof(T)) {
    return hn::LoadU(d, p);
  } else if constexpr (sizeof(S) == 4) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p));
  } else if constexpr (sizeof(T) == 4) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<S, D>(), p));
  } else {
    const hn::Rebind<float, D> df;
    return hn::PromoteTo(d, hn::PromoteTo(df, hn::LoadU(hn::Rebind<S, D>(), p)));
  }
}

/// Lanes [from, to) of it, the others 0; memory of the others is not touched.
template <class D, class S>
HWY_INLINE hn::Vec<D> load_lanes(D d, const S* p, std::int64_t from, std::int64_t to) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(S) == sizeof(T) && !HWY_MEM_OPS_MIGHT_FAULT) {
    const auto first = hn::FirstN(d, static_cast<std::size_t>(from));
    return hn::MaskedLoad(hn::AndNot(first, hn::FirstN(d, static_cast<std::size_t>(to))), d, p);
  } else {
    HWY_ALIGN S lanes[HWY_MAX_BYTES / sizeof(S)] = {};
    for (std::int64_t lane = from; lane < to; ++lane) lanes[lane] = p[lane];
    return load_as(d, lanes);
  }
}

/// s + a x, or s − a x, rounded once on every machine.
template <bool negative, class D, class V>
HWY_INLINE V fused(D d, V a, V x, V s) {
#if HWY_NATIVE_FMA
  (void)d;
  return negative ? hn::NegMulAdd(a, x, s) : hn::MulAdd(a, x, s);
#else
  using T = hn::TFromD<D>;
  HWY_ALIGN T in[3][HWY_MAX_BYTES / sizeof(T)];
  hn::Store(a, d, in[0]);
  hn::Store(x, d, in[1]);
  hn::Store(s, d, in[2]);
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    in[2][lane] = fma(negative ? -in[0][lane] : in[0][lane], in[1][lane], in[2][lane]);
  }
  return hn::Load(d, in[2]);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
