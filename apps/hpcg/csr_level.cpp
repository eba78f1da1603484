// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/csr_level.hpp"

#include <fmt/format.h>

#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::hpcg {
namespace {

constexpr double centre_value = 26.0, neighbour_value = -1.0;

std::int64_t own_nonzeros(const Geometry& geometry) {
  const Grid& box = geometry.local;
  std::int64_t along_x = 0, all = 0;
  const int inner = geometry.row_entries(1, 1, 1);
  for (std::int64_t i = 0; i < box.nx; ++i) along_x += geometry.row_entries(i, 1, 1);
  for (std::int64_t k = 0; k < box.nz; ++k) {
    for (std::int64_t j = 0; j < box.ny; ++j) all += along_x * geometry.row_entries(1, j, k) / inner;
  }
  return all;
}

}  // namespace

CsrLevel::CsrLevel(const Geometry& geometry, const BoxHalo& halo)
    : columns_(geometry.local.points() + halo.size()),
      start_(geometry.local.points() + 1),
      diagonal_(geometry.local.points()),
      column_(own_nonzeros(geometry)),
      value_(column_.size()) {
  const Grid& box = geometry.local;
  if (columns_ > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::will_not_fit, fmt::format("{} rows in one process: local indices have 32 bits", columns_));
  }
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < box.points(); ++row) {
    start_[row] = at;
    at += geometry.row_entries(row % box.nx, row / box.nx % box.ny, row / (box.nx * box.ny));
  }
  start_[box.points()] = at;
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads())
  for (std::int64_t k = 0; k < box.nz; ++k) {
    for (std::int64_t j = 0; j < box.ny; ++j) {
      for (std::int64_t i = 0; i < box.nx; ++i) {
        const std::int64_t row = box.index(i, j, k);
        std::int64_t entry = start_[row];
        for (std::int64_t z = k - 1; z <= k + 1; ++z) {
          for (std::int64_t y = j - 1; y <= j + 1; ++y) {
            for (std::int64_t x = i - 1; x <= i + 1; ++x) {
              const bool own = box.contains(x, y, z);
              const std::int64_t outside = own ? 0 : halo.index(x, y, z);
              if (outside < 0) continue;
              const std::int64_t column = own ? box.index(x, y, z) : box.points() + outside;
              if (column == row) diagonal_[row] = entry;
              column_[entry] = static_cast<std::int32_t>(column);
              value_[entry++] = column == row ? centre_value : neighbour_value;
            }
          }
        }
      }
    }
  }
}

void CsrLevel::multiply(const Vector<double>& x, Vector<double>& y) const {
  const std::int64_t n = rows();
#pragma omp parallel for schedule(static) num_threads(threads())
  for (std::int64_t row = 0; row < n; ++row) {
    double sum = 0;
    for (std::int64_t e = start_[row]; e < start_[row + 1]; ++e) sum += value_[e] * x[column_[e]];
    y[row] = sum;
  }
}

void CsrLevel::smooth(const Vector<double>& r, Vector<double>& x) const {
  const auto relax = [&](std::int64_t row) {
    const double centre = value_[diagonal_[row]];
    double sum = r[row];
    for (std::int64_t e = start_[row]; e < start_[row + 1]; ++e) sum -= value_[e] * x[column_[e]];
    sum += x[row] * centre;  // which the loop took away
    x[row] = sum / centre;
  };
  const std::int64_t n = rows();
  for (std::int64_t row = 0; row < n; ++row) relax(row);
  for (std::int64_t row = n - 1; row >= 0; --row) relax(row);
}

}  // namespace echelon::hpcg
