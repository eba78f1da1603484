// SPDX-License-Identifier: BSD-3-Clause
// Triad of bandwidth.hpp, compiled once an instruction set: 24 bytes a number, ordinary stores, unaligned ends allowed.
#include "bench/measure/bandwidth.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/measure/triad_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void triad(double* a, const double* b, const double* c, double s, std::int64_t n) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto scale = hn::Set(d, s);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto first = hn::MulAdd(scale, hn::LoadU(d, c + i), hn::LoadU(d, b + i));
    const auto second = hn::MulAdd(scale, hn::LoadU(d, c + i + lanes), hn::LoadU(d, b + i + lanes));
    hn::StoreU(first, d, a + i);
    hn::StoreU(second, d, a + i + lanes);
  }
  for (; i < n; ++i) a[i] = b[i] + s * c[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon::bench {
HWY_EXPORT(triad);
void triad_range(double* a, const double* b, const double* c, double s, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(triad)(a, b, c, s, n);
}
}  // namespace echelon::bench
#endif
