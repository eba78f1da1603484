// SPDX-License-Identifier: BSD-3-Clause
// U⁻¹ L⁻¹ r by iteration with a launch a sweep, on factors of any size: the factorization's own arrays where they are not
// scaled.
#pragma once

#include "echelon/sweep/iterated/device_iteration_view.hpp"
#include "echelon/sweep/iterated/iterated_triangles.hpp"
#include "echelon/sweep/iterated/stored_factors.hpp"

namespace echelon {

class LaunchedIterations {
 public:
  /// `prepared` are the same factors, scaled or not. What `factors` points to must stay.
  void load(const IteratedTriangles<double>& prepared, const StoredFactors& factors, Device device,
            const IterationLaunches& launches);
  /// Queued, not waited for; `r` may be `x`.
  void apply(const double* r, double* x);
  std::int64_t bytes() const;

 private:
  struct Side {
    IterationSweep sweep;
    int sweeps = 1;
    const double *row_scale = nullptr, *column_scale = nullptr;
    Array<double> values, inverse_diagonal, diagonal, row_scales, column_scales;
  };

  void load(const IteratedTriangle<double>& prepared, const StoredTriangle& stored, const Array<double>* inverse,
            Side& side);
  void run(Side& side, const double* r, double* result);
  void copy(const double* from, double* to, const double* scale, const std::int32_t* order, bool scatters);

  StoredFactors factors_;
  Device device_;
  const IterationLaunches* launches_ = nullptr;
  Side lower_, upper_;
  Array<double> iterates_[2], zeros_, right_, total_, between_;
};

}  // namespace echelon
