// SPDX-License-Identifier: BSD-3-Clause
// A recipe is a problem's row mathematics, for host and GPU: plain data that travels to kernels by value, with
//   unknowns        a point (0: known at run time only), and roughly how many operations a point takes
//   row(p)          what the blocks of a point's row have in common, and of it
//   .block(e, o)    the block of the stencil's entry e, whose neighbour p + o is inside the grid, and of that
//   .at(row, column)
// A row whose own block is made in another way than its neighbours' has own() and neighbour(o) instead (with_block).
// One with blocks may have a stencil that the compiler knows (`Known`). Where making whole blocks is faster on a GPU it says
// whether the rows of points are worth keeping for all their entries (keeps_rows, and kept(row)). One of two unknowns whose
// points are best made whole has row_of<interior>(p, r), a RowOf with value(o, of the own unknown or the other),
// is_interior(p). The order of all operations is fixed and nothing contracts, so the bits are the same wherever a value is
// made.
#pragma once

#include "echelon/base/device.hpp"
#include "echelon/stencil/wavefront.hpp"

namespace echelon::problems {

/// list[n] for a list in registers: by comparisons, since n is not known to the compiler.
template <int N>
ECHELON_FN double pick(const double (&list)[N], int n) {
  double found = list[0];
#pragma unroll
  for (int m = 1; m < N; ++m) found = n == m ? list[m] : found;
  return found;
}

/// Sides of a grid as ints; they are below 2³⁰.
struct Sides {
  int nx, ny, nz;

  explicit Sides(const Grid& grid)
      : nx(static_cast<int>(grid.nx)), ny(static_cast<int>(grid.ny)), nz(static_cast<int>(grid.nz)) {}
  Sides() = default;
  ECHELON_FN bool contain(Ijk p) const { return p.i >= 0 && p.i < nx && p.j >= 0 && p.j < ny && p.k >= 0 && p.k < nz; }
};

ECHELON_FN Ijk moved(Ijk p, const Offset& o) { return {p.i + o.x, p.j + o.y, p.k + o.z}; }
/// The axis an offset along one of them has.
ECHELON_FN int axis_of(const Offset& o) { return o.x != 0 ? 0 : o.y != 0 ? 1 : 2; }

/// One with a way of its own to its own block.
template <class Row>
concept OwnBlock = requires(const Row& row) {
  row.own();
};

/// use(block of the entry e at the offset o).
template <class Row, class Use>
ECHELON_FN void with_block(const Row& row, int e, const Offset& o, const Use& use) {
  if constexpr (OwnBlock<Row>) {
    if (o.x == 0 && o.y == 0 && o.z == 0) {
      use(row.own());
    } else {
      use(row.neighbour(o));
    }
  } else {
    use(row.block(e, o));
  }
}

/// The same value for an entry at all points.
struct ConstantRows {
  static constexpr int unknowns = 1;
  static constexpr std::int64_t operations = 20;
  const double* value;  // of each entry

  struct Block {
    double value;
    ECHELON_FN double at(int, int) const { return value; }
  };
  struct Row {
    const double* value;
    ECHELON_FN Block block(int e, const Offset&) const { return {value[e]}; }
  };
  ECHELON_FN Row row(Ijk) const { return {value}; }
};

/// The same value for a neighbour at all points, and a diagonal that balances the neighbours there are: row sums are 0.
struct BalancedRows {
  static constexpr int unknowns = 1;
  static constexpr std::int64_t operations = 40;
  const double* value;    // of each entry but the centre's
  const Offset* offsets;  // of the stencil
  int entries, center;
  Sides sides;

  struct Block {
    double value;
    ECHELON_FN double at(int, int) const { return value; }
  };
  struct Row {
    const BalancedRows& of;
    Ijk p;
    ECHELON_FN Block block(int e, const Offset&) const {
      if (e != of.center) return {of.value[e]};
      double diagonal = 0;
      for (int other = 0; other < of.entries; ++other) {
        if (other != of.center && of.sides.contain(moved(p, of.offsets[other]))) diagonal -= of.value[other];
      }
      return {diagonal};
    }
  };
  ECHELON_FN Row row(Ijk p) const { return {*this, p}; }
};

}  // namespace echelon::problems
