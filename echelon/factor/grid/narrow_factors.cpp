// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/grid/narrow_factors.hpp"

#include <algorithm>
#include <cmath>

#include "echelon/base/small_block.hpp"

namespace echelon {
namespace {

/// L = A_m D_k⁻¹ of one line; zero where the neighbour m lies outside.
template <class T>
void form_lower_line(const typename NarrowFactors<T>::Source& from, int m, std::int64_t line, T* L) {
  const Grid& g = from.grid;
  const Offset o = from.plan.offsets[static_cast<std::size_t>(m)];
  const std::int64_t bb = std::int64_t{from.block} * from.block, base = line * g.nx;
  const std::int64_t distance = (o.z * g.ny + o.y) * g.nx + o.x;
  for (std::int64_t i = 0; i < g.nx; ++i, L += bb) {
    if (g.contains(i + o.x, line % g.ny + o.y, line / g.ny + o.z)) {
      block_product<0>(from.block, from.planes[m] + (base + i) * bb, from.inverse + (base + i + distance) * bb, L);
    } else {
      std::fill(L, L + bb, T(0));
    }
  }
}

}  // namespace

template <class T>
std::int64_t NarrowFactors<T>::store(const Source& from, double norm, Stored stored) {
  const auto entries = static_cast<int>(from.plan.offsets.size());
  const std::int64_t line = from.grid.nx * from.block * from.block, lines = from.grid.ny * from.grid.nz;
  stored_ = stored;
  center_ = from.plan.center;
  scale_ = norm > 0 && std::isfinite(norm) ? std::exp2(-std::round(std::log2(norm))) : 1;
  plane_bytes_ = bytes_of(stored) * line * lines;
  if (planes_.size() != entries * plane_bytes_) planes_ = Array<std::byte>(entries * plane_bytes_);
  const auto scale = static_cast<T>(scale_);
  std::int64_t lost = 0;
  Array<T> formed(from.plan.diagonal_only ? line : 0);
  for (int e = 0; e < entries; ++e) {
    std::byte* to = planes_.data() + e * plane_bytes_;
    if (e < center_ && from.plan.diagonal_only) {
      for (std::int64_t l = 0; l < lines; ++l) {
        form_lower_line<T>(from, e, l, formed.data());
        lost += narrow(formed.data(), line, T(1), stored, to + l * line * bytes_of(stored));
      }
    } else {
      const T factor = e < center_ ? T(1) : e > center_ ? scale : T(1) / scale;
      lost += narrow(e == center_ ? from.inverse : from.planes[e], line * lines, factor, stored, to);
    }
  }
  return lost;
}

template <class T>
T NarrowFactors<T>::value(int entry, std::int64_t v) const {
  const double scale = entry < center_ ? 1 : entry > center_ ? 1 / scale_ : scale_;
  return static_cast<T>(scale * widened(plane(entry), v, stored_));
}

template class NarrowFactors<double>;
template class NarrowFactors<float>;

}  // namespace echelon
