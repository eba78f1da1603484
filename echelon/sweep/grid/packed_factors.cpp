// SPDX-License-Identifier: BSD-3-Clause
// A few cache lines more than multiples of 4 KiB lie between L and U: their streams would otherwise want the same few places
// of the cache.
#include "echelon/sweep/grid/packed_factors.hpp"

#include <algorithm>

#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"

namespace echelon {

template <class T>
bool PackedFactors<T>::store(const StructTriangle& lower, const StructTriangle& upper) {
  forget();
  const auto fill = fill_packs<T>();
  const auto below = static_cast<std::int64_t>(lower.entries.size()),
             above = static_cast<std::int64_t>(upper.entries.size());
  if (!fill || lower.block != 1 || std::max(below, above) < wide_triangle) return false;
  constexpr std::int64_t scalar = sizeof(T), page = 4096 / scalar, spread = 37 * 64 / scalar;
  const Grid& grid = lower.grid;
  const std::int64_t lower_size = (packed_scalars(grid, below, true) + page - 1) / page * page + spread;
  const std::int64_t size = lower_size + packed_scalars(grid, above, false);
  if (packs_.size() != size) {
    packs_ = Array<T>();
    if (size * scalar > available_bytes() / 2) return false;
    packs_ = Array<T>(size);
  }
#pragma omp parallel for num_threads(threads_for(size)) schedule(static)
  for (std::int64_t line = 0; line < grid.ny * grid.nz; ++line) {
    fill(lower, true, line, packs_.data());
    fill(upper, false, line, packs_.data() + lower_size);
  }
  lower_ = packs_.data();
  upper_ = packs_.data() + lower_size;
  return true;
}

template class PackedFactors<double>;
template class PackedFactors<float>;

}  // namespace echelon
