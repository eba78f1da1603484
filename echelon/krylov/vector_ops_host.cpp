// SPDX-License-Identifier: BSD-3-Clause
// The kernels of vector_kernels.hpp with SIMD; sums and packs are those of lane_sums.inl.
// Bytes an element: dot 16, axpy 24, cg_update 48, multi_dot and subtract 8 (fp32: 4) a column, w staying
// in cache, and 8 and 16 for w; subtract_and_store 8 (fp32: 4) more.
#include <type_traits>

#include "echelon/base/fma.hpp"
#include "echelon/krylov/reduction_tree.hpp"
#include "echelon/krylov/vector_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/krylov/vector_ops_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/krylov/lane_sums.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <class T>
double dot_of(const T* x, const double* y, std::int64_t n) {
  LaneSums sums;
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    for (int k = 0; k < packs; ++k) sums.part[k] = mul_add(load(x + i + k * width), load(y + i + k * width), sums.part[k]);
  }
  return folded(sums, n - i, [&](std::int64_t l, double sum) { return fma(double(x[i + l]), y[i + l], sum); });
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

/// Columns that share one read of w in multi_dot: as many as the registers hold sums for. In subtract, eight streams and w:
/// measured, more gain nothing.
constexpr int dot_group = packs <= 4 ? 6 : 1;
constexpr int subtract_group = 8;
/// A row of lanes is asked for so many elements before its use: without that every column of every chunk starts cold.
constexpr std::int64_t ahead = 256;

/// Asks for the row of lanes `ahead` of element i in the group's columns, or at their end for those of the next group.
template <int C, class T>
HWY_INLINE void ask_ahead(const T* v, std::int64_t stride, const T* next, std::int64_t i, std::int64_t n) {
  constexpr std::int64_t line = 64 / sizeof(T);
  const T* from = i + ahead < n ? v + i + ahead : next + (i + ahead - n);
  for (int c = 0; c < C; ++c) {
    for (std::int64_t at = 0; at < row; at += line) __builtin_prefetch(from + c * stride + at);
  }
}

/// sums[c] = column c of v · w for c < C and, when Square, sums[C] = w·w.
template <int C, bool Square, class T>
HWY_INLINE void dot_columns(const T* v, std::int64_t stride, const T* next, const double* w, double* sums, std::int64_t n) {
  LaneSums part[C + Square];
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    ask_ahead<C>(v, stride, next, i, n);
    for (int k = 0; k < packs; ++k) {
      const Pack in = load(w + i + k * width);
      for (int c = 0; c < C; ++c) part[c].part[k] = mul_add(load(v + c * stride + i + k * width), in, part[c].part[k]);
      if constexpr (Square) part[C].part[k] = mul_add(in, in, part[C].part[k]);
    }
  }
  for (int c = 0; c < C; ++c) {
    const T* column = v + c * stride;
    sums[c] = folded(part[c], n - i, [&](std::int64_t l, double sum) { return fma(double(column[i + l]), w[i + l], sum); });
  }
  if constexpr (Square) {
    sums[C] = folded(part[C], n - i, [&](std::int64_t l, double sum) { return fma(w[i + l], w[i + l], sum); });
  }
}

/// body(integral_constant<C>) for the C = count, which is less than Most.
template <int Most, class Body>
HWY_INLINE void with_count(int count, const Body& body) {
  if constexpr (Most > 0) {
    if (count == Most - 1) {
      body(std::integral_constant<int, Most - 1>());
    } else {
      with_count<Most - 1>(count, body);
    }
  }
}

template <class T>
void multi_dot(ColumnsView<T> V, const double* w, double* sums, std::int64_t n) {
  int j = 0;
  for (; j + dot_group <= V.count; j += dot_group) {
    const T* v = V.data + j * V.stride;
    const T* next = j + dot_group < V.count ? v + dot_group * V.stride : V.next;
    dot_columns<dot_group, false>(v, V.stride, next, w, sums + j, n);
  }
  with_count<dot_group>(V.count - j,
                        [&](auto C) { dot_columns<C, true>(V.data + j * V.stride, V.stride, V.next, w, sums + j, n); });
}

/// w ← w − (C columns of v) h, C columns to one read and write of w.
template <int C, class T>
HWY_INLINE void subtract_columns(const T* v, std::int64_t stride, const T* next, const double* h, double* w,
                                 std::int64_t n) {
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    ask_ahead<C>(v, stride, next, i, n);
    for (int k = 0; k < packs; ++k) {
      const std::int64_t at = i + k * width;
      Pack sum = load(w + at);
      for (int c = 0; c < C; ++c) sum = neg_mul_add(all(h[c]), load(v + c * stride + at), sum);
      store(sum, w + at);
    }
  }
  for (; i < n; ++i) {
    for (int c = 0; c < C; ++c) w[i] = fma(-h[c], double(v[c * stride + i]), w[i]);
  }
}

/// What is left of w, kept.
struct Keep {
  double* w;
  HWY_INLINE void pack(Pack left, std::int64_t at) const { store(left, w + at); }
  HWY_INLINE void one(double left, std::int64_t at) const { w[at] = left; }
};

/// What is left of w, scaled and rounded to T: into a column, past the caches as it is not read before the next step, and
/// into w.
template <class T>
struct ScaleAndStore {
  double a;
  T* column;
  double* w;
  HWY_INLINE void pack(Pack left, std::int64_t at) const {
    const auto rounded = narrowed(times(all(a), left), column);
    stream(rounded, column + at);
    store(widened(rounded), w + at);
  }
  HWY_INLINE void one(double left, std::int64_t at) const {
    column[at] = static_cast<T>(a * left);
    w[at] = column[at];
  }
};

/// The last C columns: `finish` is given what is left of w; returns its square.
template <int C, class T, class Finish>
HWY_INLINE double subtract_last(ColumnsView<T> V, const double* h, const double* w, const Finish& finish, std::int64_t n) {
  LaneSums squares;
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    ask_ahead<C>(V.data, V.stride, V.next, i, n);
    for (int k = 0; k < packs; ++k) {
      const std::int64_t at = i + k * width;
      Pack left = load(w + at);
      for (int c = 0; c < C; ++c) left = neg_mul_add(all(h[c]), load(V.data + c * V.stride + at), left);
      squares.part[k] = mul_add(left, left, squares.part[k]);
      finish.pack(left, at);
    }
  }
  return folded(squares, n - i, [&](std::int64_t l, double sum) {
    const std::int64_t at = i + l;
    double left = w[at];
    for (int c = 0; c < C; ++c) left = fma(-h[c], double(V.data[c * V.stride + at]), left);
    finish.one(left, at);
    return fma(left, left, sum);
  });
}

template <class T, class Finish>
HWY_INLINE double subtract_all(ColumnsView<T> V, const double* h, double* w, const Finish& finish, std::int64_t n) {
  int j = 0;
  for (; j + subtract_group < V.count; j += subtract_group) {
    const T* v = V.data + j * V.stride;
    subtract_columns<subtract_group>(v, V.stride, v + subtract_group * V.stride, h + j, w, n);
  }
  double square = 0;
  with_count<subtract_group + 1>(V.count - j, [&](auto C) {
    square = subtract_last<C>(ColumnsView<T>{V.data + j * V.stride, V.stride, C, V.next}, h + j, w, finish, n);
  });
  return square;
}

template <class T>
double subtract(ColumnsView<T> V, const double* h, double* w, std::int64_t n) {
  return subtract_all(V, h, w, Keep{w}, n);
}

template <class T>
double subtract_and_store(ColumnsView<T> V, const double* h, StoredColumn<T> to, double* w, std::int64_t n) {
  const double square = subtract_all(V, h, w, ScaleAndStore<T>{to.scale, to.column, w}, n);
  end_streams();
  return square;
}

template <class T>
void store_scaled(double a, double* w, T* v, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    store(times(all(a), load(w + i)), v + i);
    store(load(v + i), w + i);
  }
  for (; i < n; ++i) {
    v[i] = static_cast<T>(a * w[i]);
    w[i] = v[i];
  }
}

template <class T>
BasisKernels<T> basis_kernels() {
  return {multi_dot<T>, subtract<T>, subtract_and_store<T>, store_scaled<T>};
}

VectorKernels krylov_vector_kernels() {
  return {dot_of<double>,  dot_and_square,          scaled_square,         axpy, xpay, cg_update, bicgstab_direction,
          bicgstab_update, basis_kernels<double>(), basis_kernels<float>()};
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {

HWY_EXPORT(krylov_vector_kernels);

VectorKernels choose_vector_kernels() { return HWY_DYNAMIC_DISPATCH(krylov_vector_kernels)(); }

const VectorKernels& vector_kernels() {
  static const VectorKernels chosen = choose_vector_kernels();
  return chosen;
}

}  // namespace echelon
#endif
