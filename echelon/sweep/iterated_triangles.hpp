// SPDX-License-Identifier: BSD-3-Clause
// x ≈ U⁻¹ L⁻¹ r by iteration: both triangles, prepared and judged together, so that a symmetric factorization keeps a
// symmetric preconditioner. The report gets the note, and a remark when exact sweeps take over.
#pragma once

#include "echelon/sweep/iterated_triangle.hpp"

namespace echelon {

template <class T>
class IteratedTriangles {
 public:
  /// Whether the iteration is to be used. `factors` must stay where they are; new values need a new call.
  bool prepare(const Triangles<T>& factors, const TrisolveOptions& options, FactorReport& report);

  /// `r` may be `x`. One call at a time; nothing is allocated.
  void apply(const T* r, T* x) const;
  const IteratedTriangle<T>& lower() const { return lower_; }
  const IteratedTriangle<T>& upper() const { return upper_; }
  std::int64_t bytes() const { return lower_.bytes() + upper_.bytes() + between_.bytes(); }

 private:
  IteratedTriangle<T> lower_, upper_;
  mutable Array<T> between_;  // L⁻¹ r of a scaled L
};

}  // namespace echelon
