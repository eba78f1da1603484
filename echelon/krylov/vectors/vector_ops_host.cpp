// SPDX-License-Identifier: BSD-3-Clause
// The kernels of vector_kernels.hpp with SIMD; sums and packs are those of lane_sums.inl.
// Bytes an element: dot 16, axpy 24, cg_update 48. Those on a basis are in basis_kernels_host.cpp.
#include "echelon/base/fma.hpp"
#include "echelon/base/reduction_tree.hpp"
#include "echelon/krylov/vectors/vector_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/krylov/vectors/vector_ops_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/base/lane_sums.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

double dot(const double* x, const double* y, std::int64_t n) {
  LaneSums sums;
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    for (int k = 0; k < packs; ++k) sums.part[k] = mul_add(load(x + i + k * width), load(y + i + k * width), sums.part[k]);
  }
  return folded(sums, n - i, [&](std::int64_t l, double sum) { return fma(x[i + l], y[i + l], sum); });
}

SumPair dot_and_square(const double* x, const double* y, std::int64_t n) {
  LaneSums xy, xx;
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    for (int k = 0; k < packs; ++k) {
      const Pack a = load(x + i + k * width);
      xy.part[k] = mul_add(a, load(y + i + k * width), xy.part[k]);
      xx.part[k] = mul_add(a, a, xx.part[k]);
    }
  }
  return {folded(xy, n - i, [&](std::int64_t l, double sum) { return fma(x[i + l], y[i + l], sum); }),
          folded(xx, n - i, [&](std::int64_t l, double sum) { return fma(x[i + l], x[i + l], sum); })};
}

double scaled_square(double a, const double* x, std::int64_t n) {
  LaneSums sums;
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    for (int k = 0; k < packs; ++k) {
      const Pack scaled = times(all(a), load(x + i + k * width));
      sums.part[k] = mul_add(scaled, scaled, sums.part[k]);
    }
  }
  return folded(sums, n - i, [&](std::int64_t l, double sum) { return fma(a * x[i + l], a * x[i + l], sum); });
}

void axpy(double a, const double* x, double* y, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + width <= n; i += width) store(mul_add(all(a), load(x + i), load(y + i)), y + i);
  for (; i < n; ++i) y[i] = fma(a, x[i], y[i]);
}

void xpay(const double* x, double a, double* y, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + width <= n; i += width) store(mul_add(all(a), load(y + i), load(x + i)), y + i);
  for (; i < n; ++i) y[i] = fma(a, y[i], x[i]);
}

double cg_update(double a, const double* p, const double* q, double* x, double* r, std::int64_t n) {
  LaneSums sums;
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    for (int k = 0; k < packs; ++k) {
      const std::int64_t at = i + k * width;
      store(mul_add(all(a), load(p + at), load(x + at)), x + at);
      const Pack left = neg_mul_add(all(a), load(q + at), load(r + at));
      store(left, r + at);
      sums.part[k] = mul_add(left, left, sums.part[k]);
    }
  }
  return folded(sums, n - i, [&](std::int64_t l, double sum) {
    const std::int64_t at = i + l;
    x[at] = fma(a, p[at], x[at]);
    r[at] = fma(-a, q[at], r[at]);
    return fma(r[at], r[at], sum);
  });
}

void bicgstab_direction(double beta, double omega, const double* r, const double* v, double* p, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    store(mul_add(all(beta), neg_mul_add(all(omega), load(v + i), load(p + i)), load(r + i)), p + i);
  }
  for (; i < n; ++i) p[i] = fma(beta, fma(-omega, v[i], p[i]), r[i]);
}

SumPair bicgstab_update(const BicgstabStep& step, std::int64_t begin, std::int64_t n) {
  const double alpha = step.alpha, omega = step.omega;
  const double *p_hat = step.p_hat + begin, *s_hat = step.s_hat + begin, *t = step.t + begin, *shadow = step.shadow + begin;
  double *x = step.x + begin, *r = step.r + begin;
  LaneSums shadow_r, squares;
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    for (int k = 0; k < packs; ++k) {
      const std::int64_t at = i + k * width;
      store(mul_add(all(omega), load(s_hat + at), mul_add(all(alpha), load(p_hat + at), load(x + at))), x + at);
      const Pack left = neg_mul_add(all(omega), load(t + at), load(r + at));
      store(left, r + at);
      shadow_r.part[k] = mul_add(load(shadow + at), left, shadow_r.part[k]);
      squares.part[k] = mul_add(left, left, squares.part[k]);
    }
  }
  const double first = folded(shadow_r, n - i, [&](std::int64_t l, double sum) {
    const std::int64_t at = i + l;
    x[at] = fma(omega, s_hat[at], fma(alpha, p_hat[at], x[at]));
    r[at] = fma(-omega, t[at], r[at]);
    return fma(shadow[at], r[at], sum);
  });
  return {first, folded(squares, n - i, [&](std::int64_t l, double sum) { return fma(r[i + l], r[i + l], sum); })};
}

/// All but the work on a basis.
VectorKernels krylov_vector_kernels() {
  return {dot, dot_and_square, scaled_square, axpy, xpay, cg_update, bicgstab_direction, bicgstab_update, {}};
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {

HWY_EXPORT(krylov_vector_kernels);

VectorKernels choose_vector_kernels() {
  VectorKernels chosen = HWY_DYNAMIC_DISPATCH(krylov_vector_kernels)();
  chosen.basis = choose_basis_kernels();
  return chosen;
}

const VectorKernels& vector_kernels() {
  static const VectorKernels chosen = choose_vector_kernels();
  return chosen;
}

}  // namespace echelon
#endif
