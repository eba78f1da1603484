// SPDX-License-Identifier: BSD-3-Clause
// The kernels of vector_kernels.hpp on the columns of a basis, with SIMD; sums and packs are those of lane_sums.inl. Bytes
// an element: 8 (fp32: 4) a column, w staying in cache, and besides multi_dot 8, subtract 16, subtract_and_store 24 (fp32:
// 20); of the pairs, which read a column once for two vectors, pair_dot 16 and pair_subtract 48.
#include <type_traits>

#include "echelon/base/fma.hpp"
#include "echelon/base/reduction_tree.hpp"
#include "echelon/krylov/vectors/vector_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/krylov/vectors/basis_kernels_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/base/lane_sums.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

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

/// Columns that share one read of w₁ and w₂.
constexpr int pair_dot_group = packs <= 4 ? 3 : 1;
constexpr int pair_subtract_group = 4;

/// As dot_columns, for two vectors.
template <int C, bool Squares>
HWY_INLINE void pair_dot_columns(ColumnsView<double> V, const double* w1, const double* w2, double* sums, std::int64_t n) {
  LaneSums part[2 * C + 3 * Squares];
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    ask_ahead<C>(V.data, V.stride, V.next, i, n);
    for (int k = 0; k < packs; ++k) {
      const std::int64_t at = i + k * width;
      const Pack in1 = load(w1 + at), in2 = load(w2 + at);
      for (int c = 0; c < C; ++c) {
        const Pack v = load(V.data + c * V.stride + at);
        part[2 * c].part[k] = mul_add(v, in1, part[2 * c].part[k]);
        part[2 * c + 1].part[k] = mul_add(v, in2, part[2 * c + 1].part[k]);
      }
      if constexpr (Squares) {
        part[2 * C].part[k] = mul_add(in1, in1, part[2 * C].part[k]);
        part[2 * C + 1].part[k] = mul_add(in1, in2, part[2 * C + 1].part[k]);
        part[2 * C + 2].part[k] = mul_add(in2, in2, part[2 * C + 2].part[k]);
      }
    }
  }
  const auto sum_up = [&](int at, const double* x, const double* y) HWY_ATTR {
    sums[at] = folded(part[at], n - i, [&](std::int64_t l, double sum) { return fma(x[i + l], y[i + l], sum); });
  };
  for (int c = 0; c < C; ++c) {
    sum_up(2 * c, V.data + c * V.stride, w1);
    sum_up(2 * c + 1, V.data + c * V.stride, w2);
  }
  if constexpr (Squares) {
    sum_up(2 * C, w1, w1);
    sum_up(2 * C + 1, w1, w2);
    sum_up(2 * C + 2, w2, w2);
  }
}

void pair_dot(ColumnsView<double> V, const double* w1, const double* w2, double* sums, std::int64_t n) {
  int j = 0;
  for (; j + pair_dot_group <= V.count; j += pair_dot_group) {
    const double* v = V.data + j * V.stride;
    const double* next = j + pair_dot_group < V.count ? v + pair_dot_group * V.stride : V.next;
    pair_dot_columns<pair_dot_group, false>({v, V.stride, pair_dot_group, next}, w1, w2, sums + 2 * j, n);
  }
  with_count<pair_dot_group>(V.count - j, [&](auto C) {
    pair_dot_columns<C, true>({V.data + j * V.stride, V.stride, C, V.next}, w1, w2, sums + 2 * j, n);
  });
}

/// w₁ and w₂ less C columns; `finish` is given what is left.
template <int C, class Finish>
HWY_INLINE void pair_subtract_columns(ColumnsView<double> V, const double* h, const double* w1, const double* w2,
                                      std::int64_t n, const Finish& finish) {
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    ask_ahead<C>(V.data, V.stride, V.next, i, n);
    for (int k = 0; k < packs; ++k) {
      const std::int64_t at = i + k * width;
      Pack left1 = load(w1 + at), left2 = load(w2 + at);
      for (int c = 0; c < C; ++c) {
        const Pack v = load(V.data + c * V.stride + at);
        left1 = neg_mul_add(all(h[2 * c]), v, left1);
        left2 = neg_mul_add(all(h[2 * c + 1]), v, left2);
      }
      finish.pack(left1, left2, at, k);
    }
  }
  for (std::int64_t l = 0; i + l < n; ++l) {
    double left1 = w1[i + l], left2 = w2[i + l];
    for (int c = 0; c < C; ++c) {
      left1 = fma(-h[2 * c], V.data[c * V.stride + i + l], left1);
      left2 = fma(-h[2 * c + 1], V.data[c * V.stride + i + l], left2);
    }
    finish.one(left1, left2, i + l, l);
  }
}

struct KeepPair {
  double *w1, *w2;
  HWY_INLINE void pack(Pack left1, Pack left2, std::int64_t at, int) const {
    store(left1, w1 + at);
    store(left2, w2 + at);
  }
  HWY_INLINE void one(double left1, double left2, std::int64_t at, std::int64_t) const {
    w1[at] = left1;
    w2[at] = left2;
  }
};

struct FinishPair {
  const PairStep& step;
  double *w1, *w2;
  LaneSums &squares1, &squares2;
  double *tail1, *tail2;  // what a lane's rest of fewer than 32 elements is
  HWY_INLINE void pack(Pack left1, Pack left2, std::int64_t at, int k) const {
    squares1.part[k] = mul_add(left1, left1, squares1.part[k]);
    const Pack v1 = times(all(step.scale1), left1);
    left2 = neg_mul_add(all(step.along), v1, left2);
    squares2.part[k] = mul_add(left2, left2, squares2.part[k]);
    const Pack v2 = times(all(step.scale2), left2);
    stream(v1, step.column1 + at);
    stream(v2, step.column2 + at);
    store(v1, w1 + at);
    store(v2, w2 + at);
  }
  HWY_INLINE void one(double left1, double left2, std::int64_t at, std::int64_t l) const {
    tail1[l] = left1;
    w1[at] = step.column1[at] = step.scale1 * left1;
    tail2[l] = left2 = fma(-step.along, w1[at], left2);
    w2[at] = step.column2[at] = step.scale2 * left2;
  }
};

SumPair pair_subtract(ColumnsView<double> V, const PairStep& step, double* w1, double* w2, std::int64_t n) {
  int j = 0;
  for (; j + pair_subtract_group < V.count; j += pair_subtract_group) {
    const double* v = V.data + j * V.stride;
    const ColumnsView<double> some{v, V.stride, pair_subtract_group, v + pair_subtract_group * V.stride};
    pair_subtract_columns<pair_subtract_group>(some, step.h + 2 * j, w1, w2, n, KeepPair{w1, w2});
  }
  LaneSums squares1, squares2;
  double tail1[reduction::lanes], tail2[reduction::lanes];
  with_count<pair_subtract_group + 1>(V.count - j, [&](auto C) {
    pair_subtract_columns<C>({V.data + j * V.stride, V.stride, C, V.next}, step.h + 2 * j, w1, w2, n,
                             FinishPair{step, w1, w2, squares1, squares2, tail1, tail2});
  });
  end_streams();
  return {folded(squares1, n % row, [&](std::int64_t l, double sum) { return fma(tail1[l], tail1[l], sum); }),
          folded(squares2, n % row, [&](std::int64_t l, double sum) { return fma(tail2[l], tail2[l], sum); })};
}

template <class T>
BasisKernels<T> basis_kernels() {
  return {multi_dot<T>, subtract<T>, subtract_and_store<T>, store_scaled<T>};
}

BasisTable basis_table() { return {basis_kernels<double>(), basis_kernels<float>(), pair_dot, pair_subtract}; }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {

HWY_EXPORT(basis_table);

BasisTable choose_basis_kernels() { return HWY_DYNAMIC_DISPATCH(basis_table)(); }

}  // namespace echelon
#endif
