// SPDX-License-Identifier: BSD-3-Clause
// The vector work of CG on this process, with threads(): sums are of fixed shape (chunks of 4096 numbers, in a chunk 16
// lanes, chunks added pairwise), so that they do not depend on the number of threads. Vectors are read once a call.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"

namespace echelon::hpcg {

class VectorWork {
 public:
  using V = Vector<double>;
  /// Of vectors whose first n numbers count.
  explicit VectorWork(std::int64_t n);

  double dot(const V& x, const V& y);
  /// w ← a x + b y
  void waxpby(double a, const V& x, double b, const V& y, V& w);
  /// r ← b − q; r·r
  double subtract(const V& b, const V& q, V& r);
  /// r ← r − a q; r·r
  double step_back(double a, const V& q, V& r);
  /// x ← x + a p, then p ← z + b p
  void turn(double a, double b, const V& z, V& x, V& p);
  /// x ← x + a p
  void step(double a, const V& p, V& x);

 private:
  template <class Work>
  void for_chunks(const Work& work) const;
  template <class Work>
  double sum_chunks(const Work& work);

  std::int64_t n_;
  Array<double> partial_;
};

/// Bytes a second of a ← b + s c on arrays of about `bytes` bytes together, ordinary stores, 24 bytes a number; the median
/// of the passes, with threads().
double measure_triad(std::int64_t bytes);

}  // namespace echelon::hpcg
