// SPDX-License-Identifier: BSD-3-Clause
// Symmetric Gauss-Seidel point by point, as echelon/sweep/grid/gauss_seidel.hpp says it: the reference of its bits. A row's
// entries go from the farthest to the nearest; those of the point's own line come last, already multiplied by D⁻¹ for x.
#pragma once

#include <cstdint>
#include <vector>

#include "echelon/base/fma.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"

namespace echelon::reference {

template <class T>
class PlainGaussSeidel {
 public:
  explicit PlainGaussSeidel(const StructMatrix<T>& A) : A_(A), n_(A.rows()) {}

  void from_zero(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const {
    for (std::int64_t p = 0; p < n_; ++p) forward(p, r, nullptr, half, x);
    backward(half, x);
  }
  void from_guess(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const {
    const auto guess = x.clone();
    for (std::int64_t p = 0; p < n_; ++p) forward(p, r, guess.data(), half, x);
    backward(half, x);
  }
  void residual_after_zero(const Vector<T>& r, const Vector<T>& half, const Vector<T>& x, Vector<T>& out) const {
    for (std::int64_t p = 0; p < n_; ++p) {
      out[p] = r[p] - half[p];
      for (const Entry& e : entries(p, true)) out[p] = fma(-e.value, x[e.column], out[p]);
    }
  }

  /// One sweep alone, from zero and back from a guess, and the residual after the first.
  void forward_alone(const Vector<T>& r, Vector<T>& x) const {
    Vector<T> half(n_);
    for (std::int64_t p = 0; p < n_; ++p) forward(p, r, nullptr, half, x);
  }
  void residual_after_forward(const Vector<T>& x, Vector<T>& out) const {
    for (std::int64_t p = 0; p < n_; ++p) {
      out[p] = 0;
      for (const Entry& e : entries(p, false)) out[p] = fma(-e.value, x[e.column], out[p]);
    }
  }
  void backward_alone(const Vector<T>& r, Vector<T>& x) const {
    const auto guess = x.clone();
    for (std::int64_t p = n_ - 1; p >= 0; --p) {
      const T d = inverse(p);
      T sum = r[p], lower = 0;
      const auto upper = entries(p, false);
      for (const Entry& e : upper) {
        if (!e.same_line) sum = fma(-e.value, x[e.column], sum);
      }
      for (const Entry& e : entries(p, true)) lower = fma(e.value, guess[e.column], lower);
      T value = (sum - lower) * d;
      for (const Entry& e : upper) {
        if (e.same_line) value = fma(-(e.value * d), x[e.column], value);
      }
      x[p] = value;
    }
  }

 private:
  struct Entry {
    std::int64_t column;
    T value;
    bool same_line;
  };
  /// Of one triangle, the farthest first.
  std::vector<Entry> entries(std::int64_t p, bool lower) const {
    const Grid g = A_.grid();
    const std::int64_t i = p % g.nx, j = p / g.nx % g.ny, k = p / g.nx / g.ny;
    std::vector<Entry> found;
    const int size = A_.stencil().size(), center = A_.stencil().center();
    for (int n = 0; n < (lower ? center : size - 1 - center); ++n) {
      const int e = lower ? n : size - 1 - n;
      const Offset o = A_.stencil().offsets()[static_cast<std::size_t>(e)];
      if (!g.contains(i + o.x, j + o.y, k + o.z)) continue;
      found.push_back({g.index(i + o.x, j + o.y, k + o.z), A_.block(p, e)[0], o.y == 0 && o.z == 0});
    }
    return found;
  }
  T inverse(std::int64_t p) const { return T(1) / A_.block(p, A_.stencil().center())[0]; }

  void forward(std::int64_t p, const Vector<T>& r, const T* guess, Vector<T>& half, Vector<T>& x) const {
    const auto lower = entries(p, true);
    const T d = inverse(p);
    T sum = r[p];
    for (const Entry& e : lower) {
      if (!e.same_line) sum = fma(-e.value, x[e.column], sum);
    }
    T value = sum;
    if (guess) {
      T upper = 0;
      for (const Entry& e : entries(p, false)) upper = fma(e.value, guess[e.column], upper);
      value = sum - upper;
    }
    value *= d;
    for (const Entry& e : lower) {
      if (!e.same_line) continue;
      value = fma(-(e.value * d), x[e.column], value);
      sum = fma(-e.value, x[e.column], sum);
    }
    half[p] = sum;
    x[p] = value;
  }

  void backward(const Vector<T>& half, Vector<T>& x) const {
    for (std::int64_t p = n_ - 1; p >= 0; --p) {
      const auto upper = entries(p, false);
      const T d = inverse(p);
      T sum = half[p];
      for (const Entry& e : upper) {
        if (!e.same_line) sum = fma(-e.value, x[e.column], sum);
      }
      T value = sum * d;
      for (const Entry& e : upper) {
        if (e.same_line) value = fma(-(e.value * d), x[e.column], value);
      }
      x[p] = value;
    }
  }

  const StructMatrix<T>& A_;
  std::int64_t n_;
};

}  // namespace echelon::reference
