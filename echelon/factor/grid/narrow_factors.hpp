// SPDX-License-Identifier: BSD-3-Clause
// Factors on a grid kept in fewer bits than they were computed in: planes of L, D⁻¹ and U, one an entry. U is stored times a
// power of two s near 1/‖A‖ and D⁻¹ divided by it, so that all are of size 1 (exact); a sweep with L then takes s·r.
#pragma once

#include <cstddef>
#include <cstdint>

#include "echelon/base/array.hpp"
#include "echelon/base/stored.hpp"
#include "echelon/factor/grid/struct_factor.hpp"

namespace echelon {

template <class T>
class NarrowFactors {
 public:
  /// What is to be stored, in T. Where only the diagonal changed (plan.diagonal_only) `planes` are A's, and L is formed
  /// here.
  struct Source {
    const EliminationPlan& plan;
    Grid grid;
    int block;
    const T* const* planes;  // one an entry; the centre is not asked for
    const T* inverse;
  };

  bool empty() const { return planes_.empty(); }
  /// Rounds all of it; returns how many finite values left the range of `stored`.
  std::int64_t store(const Source& from, double norm, Stored stored);
  void release() { *this = {}; }

  Stored stored() const { return stored_; }
  /// s above.
  double r_scale() const { return scale_; }
  const void* plane(int entry) const { return planes_.data() + entry * plane_bytes_; }
  /// Value v of a plane as it stands for the factor, without s.
  T value(int entry, std::int64_t v) const;
  std::int64_t bytes() const { return planes_.bytes(); }

 private:
  Array<std::byte> planes_;
  std::int64_t plane_bytes_ = 0;
  Stored stored_ = Stored::fp64;
  double scale_ = 1;
  int center_ = 0;
};

}  // namespace echelon
