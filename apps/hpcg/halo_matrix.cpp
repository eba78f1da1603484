// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/halo_matrix.hpp"

#include <vector>

namespace echelon::hpcg {
namespace {

constexpr double neighbour_value = -1.0;

template <class T>
Array<T> kept(const std::vector<T>& list) {
  return Array<T>(std::span<const T>(list));
}

}  // namespace

HaloMatrix::HaloMatrix(const Geometry& geometry, const BoxHalo& halo) : start_(1, std::int64_t{0}) {
  if (halo.size() == 0) return;
  const Grid& box = geometry.local;
  const Grid coarse{box.nx / 2, box.ny / 2, box.nz / 2};
  std::vector<std::int32_t> rows, coarse_rows, columns;
  std::vector<std::int64_t> starts{0};
  const auto at_edge = [](std::int64_t at, std::int64_t side) { return at == 0 || at == side - 1; };
  for (std::int64_t k = 0; k < box.nz; ++k) {
    for (std::int64_t j = 0; j < box.ny; ++j) {
      const bool all = at_edge(k, box.nz) || at_edge(j, box.ny);
      for (std::int64_t i = 0; i < box.nx; i += all ? 1 : box.nx - 1) {
        for (std::int64_t z = k - 1; z <= k + 1; ++z) {
          for (std::int64_t y = j - 1; y <= j + 1; ++y) {
            for (std::int64_t x = i - 1; x <= i + 1; ++x) {
              if (box.contains(x, y, z)) continue;
              const std::int64_t outside = halo.index(x, y, z);
              if (outside >= 0) columns.push_back(static_cast<std::int32_t>(outside));
            }
          }
        }
        if (static_cast<std::int64_t>(columns.size()) == starts.back()) continue;
        const bool injected = i % 2 == 0 && j % 2 == 0 && k % 2 == 0;
        rows.push_back(static_cast<std::int32_t>(box.index(i, j, k)));
        coarse_rows.push_back(injected ? static_cast<std::int32_t>(coarse.index(i / 2, j / 2, k / 2)) : -1);
        starts.push_back(static_cast<std::int64_t>(columns.size()));
      }
    }
  }
  row_ = kept(rows);
  coarse_row_ = kept(coarse_rows);
  start_ = kept(starts);
  column_ = kept(columns);
  value_ = Array<double>(column_.size(), neighbour_value);
  kept_ = Array<double>(row_.size(), 0.0);
}

double HaloMatrix::product(std::int64_t at, std::span<const double> u) const {
  double sum = 0;
  for (std::int64_t e = start_[at]; e < start_[at + 1]; ++e) sum += value_[e] * u[static_cast<std::size_t>(column_[e])];
  return sum;
}

double HaloMatrix::add(std::span<const double> u, const Vector<double>& x, Vector<double>& y) const {
  double dot = 0;
  for (std::int64_t at = 0; at < row_.size(); ++at) {
    const double part = product(at, u);
    y[row_[at]] += part;
    dot += x[row_[at]] * part;
  }
  return dot;
}

void HaloMatrix::subtract(std::span<const double> u, Vector<double>& r) {
  for (std::int64_t at = 0; at < row_.size(); ++at) {
    kept_[at] = r[row_[at]];
    r[row_[at]] -= product(at, u);
  }
}

void HaloMatrix::restore(Vector<double>& r) const {
  for (std::int64_t at = 0; at < row_.size(); ++at) r[row_[at]] = kept_[at];
}

void HaloMatrix::subtract_injected(std::span<const double> u, Vector<double>& coarse) const {
  for (std::int64_t at = 0; at < row_.size(); ++at) {
    if (coarse_row_[at] >= 0) coarse[coarse_row_[at]] -= product(at, u);
  }
}

}  // namespace echelon::hpcg
