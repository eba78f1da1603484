// SPDX-License-Identifier: BSD-3-Clause
// Dense b×b blocks, column-major, as the row mathematics of every block kernel uses them, on host and device.
// B > 0 fixes the size at compile time (loops unroll, lanes run over rows); B = 0 takes it at run time.
// Sums run over columns in ascending order by fma: one fixed order everywhere.
#pragma once

#include "echelon/base/device.hpp"
#include "echelon/base/fma.hpp"

namespace echelon {

template <int B>
ECHELON_FN constexpr int extent(int b) {
  return B > 0 ? B : b;
}

/// y ← y − A x
template <int B, class T>
ECHELON_FN void subtract_product(int b, const T* A, const T* x, T* y) {
  const int n = extent<B>(b);
  for (int c = 0; c < n; ++c) {
    const T xc = x[c];
    for (int r = 0; r < n; ++r) y[r] = fma(-A[c * n + r], xc, y[r]);
  }
}

/// y ← y + A x
template <int B, class T>
ECHELON_FN void add_product(int b, const T* A, const T* x, T* y) {
  const int n = extent<B>(b);
  for (int c = 0; c < n; ++c) {
    const T xc = x[c];
    for (int r = 0; r < n; ++r) y[r] = fma(A[c * n + r], xc, y[r]);
  }
}

/// y ← A x; y must not overlap x.
template <int B, class T>
ECHELON_FN void product(int b, const T* A, const T* x, T* y) {
  const int n = extent<B>(b);
  for (int r = 0; r < n; ++r) y[r] = A[r] * x[0];
  for (int c = 1; c < n; ++c) {
    const T xc = x[c];
    for (int r = 0; r < n; ++r) y[r] = fma(A[c * n + r], xc, y[r]);
  }
}

/// C ← C − A·X for blocks
template <int B, class T>
ECHELON_FN void subtract_block_product(int b, const T* A, const T* X, T* C) {
  const int n = extent<B>(b);
  for (int c = 0; c < n; ++c) subtract_product<B>(b, A, X + c * n, C + c * n);
}

/// C ← A·X for blocks; C must not overlap either.
template <int B, class T>
ECHELON_FN void block_product(int b, const T* A, const T* X, T* C) {
  const int n = extent<B>(b);
  for (int c = 0; c < n; ++c) product<B>(b, A, X + c * n, C + c * n);
}

ECHELON_FN double magnitude(double x) { return __builtin_fabs(x); }
ECHELON_FN float magnitude(float x) { return __builtin_fabsf(x); }

/// A ← A⁻¹ by Gauss-Jordan with row pivoting; `swaps` is scratch for b ints. Returns the smallest |pivot| met (NaN when one
/// was NaN); 0 means singular, and A is then left unfinished.
template <int B, class T>
ECHELON_FN T invert(int b, T* A, int* swaps) {
  const int n = extent<B>(b);
  if (n == 1) {
    const T size = magnitude(A[0]);
    if (size == 0) return size;
    A[0] = T(1) / A[0];
    return size;
  }
  T smallest = -1;
  for (int p = 0; p < n; ++p) {
    int best = p;
    for (int r = p + 1; r < n; ++r) {
      if (magnitude(A[p * n + r]) > magnitude(A[p * n + best])) best = r;
    }
    swaps[p] = best;
    const T size = magnitude(A[p * n + best]);
    if (smallest < 0 || !(size >= smallest)) smallest = size;
    if (!(size > 0)) return size;
    if (best != p) {
      for (int c = 0; c < n; ++c) {
        const T kept = A[c * n + p];
        A[c * n + p] = A[c * n + best];
        A[c * n + best] = kept;
      }
    }
    const T inverse = T(1) / A[p * n + p];
    A[p * n + p] = 1;
    for (int c = 0; c < n; ++c) A[c * n + p] *= inverse;
    for (int r = 0; r < n; ++r) {
      if (r == p) continue;
      const T factor = A[p * n + r];
      A[p * n + r] = 0;
      for (int c = 0; c < n; ++c) A[c * n + r] = fma(-factor, A[c * n + p], A[c * n + r]);
    }
  }
  for (int p = n - 1; p >= 0; --p) {
    const int other = swaps[p];
    if (other == p) continue;
    for (int r = 0; r < n; ++r) {
      const T kept = A[p * n + r];
      A[p * n + r] = A[other * n + r];
      A[other * n + r] = kept;
    }
  }
  return smallest;
}

}  // namespace echelon
