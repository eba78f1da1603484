// SPDX-License-Identifier: BSD-3-Clause
// The part of a level's rows that multiplies points of other processes: compressed rows of the box's outer layer only.
#pragma once

#include <cstdint>
#include <span>

#include "apps/hpcg/geometry.hpp"
#include "echelon/base/array.hpp"
#include "echelon/comm/halo.hpp"

namespace echelon::hpcg {

class HaloMatrix {
 public:
  HaloMatrix(const Geometry& geometry, const BoxHalo& halo);

  bool empty() const { return row_.empty(); }
  std::int64_t bytes() const {
    return row_.bytes() + coarse_row_.bytes() + start_.bytes() + column_.bytes() + value_.bytes();
  }

  /// y ← y + H u for the points u of other processes; the sum of x·(H u).
  double add(std::span<const double> u, const Vector<double>& x, Vector<double>& y) const;
  /// r ← r − H u; what r held there is kept for `restore`.
  void subtract(std::span<const double> u, Vector<double>& r);
  void restore(Vector<double>& r) const;
  /// Of the points that are injected: coarse ← coarse − H u, in the coarser level's natural order.
  void subtract_injected(std::span<const double> u, Vector<double>& coarse) const;

 private:
  double product(std::int64_t at, std::span<const double> u) const;

  Array<std::int32_t> row_, coarse_row_;  // −1: not injected
  Array<std::int64_t> start_;
  Array<std::int32_t> column_;
  Array<double> value_, kept_;
};

}  // namespace echelon::hpcg
