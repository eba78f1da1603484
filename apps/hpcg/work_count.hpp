// SPDX-License-Identifier: BSD-3-Clause
// HPCG's counts of floating point operations and bytes: those of the reference's algorithm, whatever really ran.
#pragma once

#include "apps/hpcg/geometry.hpp"

namespace echelon::hpcg {

struct Flops {
  double ddot = 0, waxpby = 0, spmv = 0, mg = 0;
  double total() const { return ddot + waxpby + spmv + mg; }
};

/// Of `sets` runs of so many iterations: 4(3i + 1)N + 2(i + 1)nnz₀ + i(10(nnz₀ + nnz₁ + nnz₂) + 4 nnz₃) each.
Flops count_flops(const Geometry& geometry, double sets, double iterations);

struct TrafficModel {
  double read = 0, written = 0;
};
/// As HPCG 3.1 counts them: values and indices of 12 bytes a nonzero, every vector once a kernel.
TrafficModel model_traffic(const Geometry& geometry, double sets, double iterations);

}  // namespace echelon::hpcg
