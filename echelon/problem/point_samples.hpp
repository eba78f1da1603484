// SPDX-License-Identifier: BSD-3-Clause
// A function of space evaluated once at every grid point, so that rows may read their neighbours' coefficients without
// calling it again. Nodes lie at (i + 1)/(N + 1), with the boundary one point outside; cells at (i + ½)/N.
#pragma once

#include <functional>

#include "echelon/base/array.hpp"
#include "echelon/matrix/stencil.hpp"

namespace echelon::problems {

enum class Place { nodes, cells };

class PointSamples {
 public:
  using Function = std::function<void(double x, double y, double z, double* values)>;
  /// `halo` points more on every side. The function is called from several threads. Throws Error(bad_argument) naming
  /// `what` and the place when a value is not finite.
  PointSamples(const char* what, const Grid& grid, Place place, int halo, int components, const Function& function);

  const double* at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return values_.data() + with_halo_.index(i + halo_, j + halo_, k + halo_) * components_;
  }
  std::span<const double> values() const { return values_.span(); }

 private:
  Grid with_halo_;
  int halo_, components_;
  Array<double> values_;
};

}  // namespace echelon::problems
