// SPDX-License-Identifier: BSD-3-Clause
// Bodies of line_kernels.hpp, once for each SIMD target: whole packs, then the rest point by point.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/precond/mg/line_kernels_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/precond/mg/line_kernels.hpp"
#include "echelon/sweep/grid/packed_lines.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

/// body(d, i) for all points of a line, in packs and then alone.
template <class T, class Body>
HWY_INLINE void for_points(std::int64_t n, const Body& body) {
  const Points<T> d;
  const hn::CappedTag<T, 1> one;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(d, i);
  for (; i < n; ++i) body(one, i);
}

/// The next line of a plane lies behind this one: asked for early, because there are more planes than the processor follows
/// by itself.
template <class T>
HWY_INLINE void ask_ahead(const T* p) {
  constexpr std::int64_t ahead = 1536 / static_cast<std::int64_t>(sizeof(T));
  __builtin_prefetch(p + ahead, 0, 2);
}

template <class T>
void add(T* sum, const T* a, std::int64_t n) {
  for_points<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    ask_ahead(a + i);
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), hn::LoadU(d, a + i)), d, sum + i);
  });
}

template <class T>
void subtract_from(T* x, const T* r, std::int64_t n) {
  for_points<T>(
      n, [=](auto d, std::int64_t i) HWY_ATTR { hn::StoreU(hn::Sub(hn::LoadU(d, r + i), hn::LoadU(d, x + i)), d, x + i); });
}

/// p q first: the same number for an entry and its mirror image.
void add_product(double* sum, const double* p, const double* q, const double* a, std::int64_t n) {
  if (!p && !q) return add(sum, a, n);
  if (!p || !q) {
    const double* w = p ? p : q;
    for_points<double>(n, [=](auto d, std::int64_t i) HWY_ATTR {
      ask_ahead(a + i);
      hn::StoreU(fused<false>(d, hn::LoadU(d, w + i), hn::LoadU(d, a + i), hn::LoadU(d, sum + i)), d, sum + i);
    });
    return;
  }
  for_points<double>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    ask_ahead(a + i);
    const auto w = hn::Mul(hn::LoadU(d, p + i), hn::LoadU(d, q + i));
    hn::StoreU(fused<false>(d, w, hn::LoadU(d, a + i), hn::LoadU(d, sum + i)), d, sum + i);
  });
}

bool equal(const double* a, const double* b, std::int64_t n) {
  bool same = true;
  for_points<double>(n, [&](auto d, std::int64_t i)
                            HWY_ATTR { same = hn::AllTrue(d, hn::Eq(hn::LoadU(d, a + i), hn::LoadU(d, b + i))) && same; });
  return same;
}

/// With signs turned so that the diagonal is positive, S± the couplings towards the two sides where they are of diffusion's
/// sign and 0 where not, and D what is left without a step: weights S±/D, where D is at least half of S₋ + S₊; else
/// S±/(S₋ + S₊). No coupling: 0.
void weights(const double* before, const double* behind, const double* still, const double* diagonal, double* left,
             double* right, std::int64_t n) {
  for_points<double>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto zero = hn::Zero(d);
    const auto negative = hn::Lt(hn::LoadU(d, diagonal + i), zero);
    const auto turned = [&](const double* p) HWY_ATTR {
      const auto a = hn::LoadU(d, p + i);
      return hn::IfThenElse(negative, hn::Neg(a), a);
    };
    const auto lower = hn::Max(hn::Neg(turned(before)), zero), upper = hn::Max(hn::Neg(turned(behind)), zero);
    const auto total = hn::Add(lower, upper), own = turned(still);
    const auto enough = hn::Ge(hn::Add(own, own), total);
    const auto divisor = hn::IfThenElse(enough, own, total);
    const auto coupled = hn::Gt(total, zero);
    const auto safe = hn::IfThenElse(coupled, divisor, hn::Set(d, 1.0));
    hn::StoreU(hn::Div(lower, safe), d, left + i);
    hn::StoreU(hn::Div(upper, safe), d, right + i);
  });
}

template <class T>
void gather(T* out, const T* middle, const T* wl, const T* lower, const T* wr, const T* upper, std::int64_t n) {
  if (!upper) {
    for_points<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
      hn::StoreU(fused<false>(d, hn::LoadU(d, wl + i), hn::LoadU(d, lower + i), hn::LoadU(d, middle + i)), d, out + i);
    });
    return;
  }
  for_points<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto sum = fused<false>(d, hn::LoadU(d, wl + i), hn::LoadU(d, lower + i), hn::LoadU(d, middle + i));
    hn::StoreU(fused<false>(d, hn::LoadU(d, wr + i), hn::LoadU(d, upper + i), sum), d, out + i);
  });
}

template <class T>
void between(T* out, const T* wl, const T* lower, const T* wr, const T* upper, std::int64_t n) {
  for_points<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    auto sum = hn::Zero(d);
    if (lower) sum = hn::Mul(hn::LoadU(d, wl + i), hn::LoadU(d, lower + i));
    if (upper) sum = fused<false>(d, hn::LoadU(d, wr + i), hn::LoadU(d, upper + i), sum);
    hn::StoreU(sum, d, out + i);
  });
}

template <class T>
void add_between(T* x, const T* wl, const T* lower, const T* wr, const T* upper, std::int64_t n) {
  for_points<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    auto sum = hn::LoadU(d, x + i);
    if (lower) sum = fused<false>(d, hn::LoadU(d, wl + i), hn::LoadU(d, lower + i), sum);
    if (upper) sum = fused<false>(d, hn::LoadU(d, wr + i), hn::LoadU(d, upper + i), sum);
    hn::StoreU(sum, d, x + i);
  });
}

const MgSetupKernels& setup_kernels() {
  static constexpr MgSetupKernels kernels{&add<double>, &add_product, &equal, &weights};
  return kernels;
}
template <class T>
MgTransferKernels<T> transfer_kernels() {
  return {&gather<T>, &between<T>, &add_between<T>, &add<T>, &subtract_from<T>};
}
MgTransferKernels<double> transfer_double() { return transfer_kernels<double>(); }
MgTransferKernels<float> transfer_float() { return transfer_kernels<float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(setup_kernels);
HWY_EXPORT(transfer_double);
HWY_EXPORT(transfer_float);

const MgSetupKernels& mg_setup_kernels() { return HWY_DYNAMIC_DISPATCH(setup_kernels)(); }
template <>
MgTransferKernels<double> mg_transfer_kernels<double>() {
  return HWY_DYNAMIC_DISPATCH(transfer_double)();
}
template <>
MgTransferKernels<float> mg_transfer_kernels<float>() {
  return HWY_DYNAMIC_DISPATCH(transfer_float)();
}

}  // namespace echelon
#endif
