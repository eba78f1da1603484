// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/work_count.hpp"

namespace echelon::hpcg {
namespace {

constexpr double number = 8, entry = 12;  // bytes of a value, and of a value with its column

}  // namespace

Flops count_flops(const Geometry& geometry, double sets, double iterations) {
  const auto levels = levels_of(geometry);
  const double all = sets * iterations, starts = sets;
  const auto rows = static_cast<double>(geometry.equations());
  Flops flops;
  flops.ddot = flops.waxpby = (3 * all + starts) * 2 * rows;
  flops.spmv = (all + starts) * 2 * static_cast<double>(geometry.nonzeros());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const double coarsest = 4, others = 10;  // a smoothing has 4 a nonzero; two of them and a residual 10
    flops.mg += all * (l + 1 == levels.size() ? coarsest : others) * static_cast<double>(levels[l].nonzeros());
  }
  return flops;
}

TrafficModel model_traffic(const Geometry& geometry, double sets, double iterations) {
  const auto levels = levels_of(geometry);
  const double all = sets * iterations;
  const auto rows = static_cast<double>(geometry.equations());
  const auto nonzeros = static_cast<double>(geometry.nonzeros());
  const double vector_calls = 3 * all + sets, products = all + sets;
  TrafficModel bytes;
  bytes.read = 2 * vector_calls * 2 * rows * number + products * (nonzeros * entry + rows * number);
  bytes.written = vector_calls * (1 + rows) * number + products * rows * number;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto n = static_cast<double>(levels[l].equations()), nnz = static_cast<double>(levels[l].nonzeros());
    const double smoothing = 2 * nnz * entry + n * number, residual = nnz * entry + n * number;
    if (l + 1 == levels.size()) {
      bytes.read += all * smoothing;
      bytes.written += all * n * number;
    } else {
      // HPCG's model has a number written for every nonzero in the residual and in the second smoothing.
      bytes.read += all * (2 * smoothing + residual);
      bytes.written += all * (n + 2 * nnz) * number;
    }
  }
  return bytes;
}

}  // namespace echelon::hpcg
