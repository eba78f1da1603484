// SPDX-License-Identifier: BSD-3-Clause
// What one scalar row of a matrix in tile order shows, for host and device. Stencils are in natural order, so the entry −o
// stands where o does from the other end.
#pragma once

#include "echelon/matrix/grid_gpu/tile_product_view.hpp"

namespace echelon::tile_traits {

/// Over some rows.
struct Findings {
  unsigned long long zero = 0, negative = 0, weak = 0, dominant = 0, nan = 0;
  unsigned long long first_weak = ~0ull;  // row in natural order
  double largest = 0, difference = 0;
};

struct View {
  TileProductView matrix;
  int center;
  bool symmetric;  // the stencil
};

/// A row's place: of its first value, and from column to column.
struct RowPlace {
  const double* first;
  std::int64_t stride;
};

ECHELON_FN RowPlace place_of(const TileProductView& v, Ijk p, int row) {
  const TileView& tiles = v.vector.tiles;
  const SkewedPoint s = v.vector.front.map(p);
  const int level = s.x + s.y + s.z, t = tiles.tile_of_line(s.y, s.z);
  const Tile& tile = tiles.tiles[t];
  const std::int64_t run = v.vector.first_run[t] + (level - tile.first_level);
  const std::int64_t start = v.vector.run_start[run], length = v.vector.run_start[run + 1] - start;
  const int rank = tiles.lines_before(tile, level, s.z) + s.y - tiles.lines_at(tile, level, s.z).begin;
  return {v.values + start * v.entries * v.block + std::int64_t{rank} * v.block + row, length};
}

ECHELON_FN double size(double x) { return x < 0 ? -x : x; }
ECHELON_FN double larger(double a, double b) { return a < b ? b : a; }  // a when b is NaN

ECHELON_FN void see_row(const View& of, Ijk p, int row, const RowPlace& own, Findings& found) {
  constexpr double weak = 1e-3;
  const TileProductView& v = of.matrix;
  const Wavefront& front = v.vector.front;
  double diagonal = 0, largest = 0, others = 0;
  for (int e = 0; e < v.entries; ++e) {
    const TileNeighbour to = v.neighbours[e];
    const Ijk q{p.i + to.x, p.j + to.y, p.k + to.z};
    if (q.i < 0 || q.i >= front.nx || q.j < 0 || q.j >= front.ny || q.k < 0 || q.k >= front.nz) continue;
    const bool compare = of.symmetric && e >= of.center;
    const double* const here = own.first + std::int64_t{e} * v.block * own.stride;
    const RowPlace there = compare ? place_of(v, q, 0) : RowPlace{nullptr, 0};
    for (int c = 0; c < v.block; ++c) {
      const double a = here[c * own.stride];
      largest = larger(largest, size(a));
      if (e == of.center && c == row) {
        diagonal = a;
      } else {
        others += size(a);
      }
      if (!compare) continue;
      const double mirrored = there.first[(std::int64_t{v.entries - 1 - e} * v.block + row) * there.stride + c];
      found.largest = larger(larger(found.largest, size(a)), size(mirrored));
      found.difference = larger(found.difference, size(a - mirrored));
      found.nan += (a - mirrored) != (a - mirrored);
    }
  }
  found.zero += diagonal == 0;
  found.negative += diagonal < 0;
  found.dominant += size(diagonal) >= others;
  if (size(diagonal) < weak * largest || diagonal == 0) {
    const auto number =
        ((static_cast<unsigned long long>(p.k) * static_cast<unsigned>(front.ny) + static_cast<unsigned>(p.j)) *
             static_cast<unsigned>(front.nx) +
         static_cast<unsigned>(p.i)) *
            static_cast<unsigned>(v.block) +
        static_cast<unsigned>(row);
    ++found.weak;
    found.first_weak = number < found.first_weak ? number : found.first_weak;
  }
}

struct Kernels {
  Findings (*find)(int device, const View& view);
};
/// Null without CUDA.
const Kernels* kernels();

}  // namespace echelon::tile_traits
