// SPDX-License-Identifier: BSD-3-Clause
// The vector work of conjugate gradients for who writes the iteration himself, on the host or a GPU, by VectorOps: sums have
// its shape, so the bits do not depend on threads. A call that returns a number waits for it; others are queued on a GPU.
#pragma once

#include <cstdint>
#include <memory>

#include "echelon/base/array.hpp"

namespace echelon {

class CgVectors {
 public:
  using V = Vector<double>;
  /// Of vectors of length n on the device.
  CgVectors(std::int64_t n, Device device);
  CgVectors(CgVectors&&) noexcept;
  CgVectors& operator=(CgVectors&&) noexcept;
  ~CgVectors();

  double dot(const V& x, const V& y);
  /// p ← z + beta p
  void turn(const V& z, double beta, V& p);
  /// x ← x + alpha p, r ← r − alpha q; r·r
  double step(double alpha, const V& p, const V& q, V& x, V& r);
  /// x ← 0
  void clear(V& x) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace echelon
