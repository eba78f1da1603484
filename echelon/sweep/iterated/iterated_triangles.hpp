// SPDX-License-Identifier: BSD-3-Clause
// x ≈ U⁻¹ L⁻¹ r by iteration: both triangles, prepared and judged together, so that a symmetric factorization keeps a
// symmetric preconditioner. The report gets the note, and a remark when exact sweeps take over.
#pragma once

#include "echelon/base/lent_scratch.hpp"
#include "echelon/sweep/iterated/iterated_triangle.hpp"

namespace echelon {

template <class T>
class IteratedTriangles {
 public:
  /// Whether the iteration is to be used. `factors` must stay where they are; new values need a new call.
  bool prepare(const Triangles<T>& factors, const TrisolveOptions& options, FactorReport& report);

  /// `r` may be `x`. Several threads may call at once; one caller allocates nothing.
  void apply(const T* r, T* x) const;
  const IteratedTriangle<T>& lower() const { return lower_; }
  const IteratedTriangle<T>& upper() const { return upper_; }
  std::int64_t bytes() const { return lower_.bytes() + upper_.bytes() + scratch_.own().bytes(); }

 private:
  struct Scratch {
    typename IteratedTriangle<T>::Scratch lower, upper;
    Array<T> between;  // L⁻¹ r of a scaled L
    std::int64_t bytes() const { return lower.bytes() + upper.bytes() + between.bytes(); }
  };
  void fit_between(Scratch& scratch) const;

  IteratedTriangle<T> lower_, upper_;
  std::int64_t size_ = 0;
  LentScratch<Scratch> scratch_;
};

}  // namespace echelon
