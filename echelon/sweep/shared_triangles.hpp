// SPDX-License-Identifier: BSD-3-Clause
// A matrix and a factorization with the same triangles: A = L + D_A + U and M = L̃ Ũ with L̃ = I + L D⁻¹, Ũ = D + U. Then
// products with A come nearly for nothing with the sweeps (Eisenstat 1981), for any diagonal D:
//   L̃⁻¹ A Ũ⁻¹ p̂ = D t + y,  t = Ũ⁻¹ p̂,  y = L̃⁻¹ (p̂ − (2D − D_A) t)      two sweeps, no product
//   A z = y + (D_A − D) z + L z,  y = L̃⁻¹ v,  z = Ũ⁻¹ y                   half a product
// Sums are the same bits for every thread count and SIMD width. No call allocates; one call at a time an object.
#pragma once

#include "echelon/base/array.hpp"

namespace echelon {

template <class T>
class SharedTriangles {
 public:
  using V = Vector<T>;
  virtual ~SharedTriangles() = default;

  /// g = L̃⁻¹ r (they may be one vector); returns g'D⁻¹g, which is r'M⁻¹r when A is symmetric.
  virtual double start(const V& r, V& g) = 0;
  /// p̂ ← g + beta p̂ (p̂ ← g when `first`), t = Ũ⁻¹ p̂.
  virtual void direction(const V& g, double beta, bool first, V& p_hat, V& t) = 0;
  /// y = L̃⁻¹ (p̂ − (2D − D_A) t); returns p̂'(t + D⁻¹y), which is t'A t when A is symmetric.
  virtual double image(const V& p_hat, const V& t, V& y) = 0;
  /// x ← x + alpha t, g ← g − alpha (D t + y); returns g'D⁻¹g.
  virtual double update(double alpha, const V& t, const V& y, V& x, V& g) = 0;
  /// r = L̃ g; returns r'r.
  virtual double residual(const V& g, V& r) = 0;
  /// z = M⁻¹ v and w = A z.
  virtual void precondition_and_multiply(const V& v, V& z, V& w) = 0;
};

}  // namespace echelon
