// SPDX-License-Identifier: BSD-3-Clause
// Rows of random blocks (random_value.hpp) made diagonally dominant: a_rr = Σ |others of the row| + 1 … 2.
#pragma once

#include <cmath>

#include "echelon/problem/assembly/recipe.hpp"
#include "echelon/problem/random_value.hpp"

namespace echelon::problems {

struct RandomRows {
  static constexpr int unknowns = 0;
  static constexpr std::int64_t operations = 500;
  RandomValues generator;
  Sides sides;
  const Offset* offsets;  // of the stencil
  int center, dof;

  struct Row {
    const RandomRows& of;
    Ijk p;

    ECHELON_FN std::int64_t point() const { return (std::int64_t{p.k} * of.sides.ny + p.j) * of.sides.nx + p.i; }
    ECHELON_FN std::uint64_t place(int e) const { return of.generator.block(point(), e); }
    /// Sizes of a row's values beside the diagonal.
    ECHELON_FN double sizes(int row) const {
      double sum = 0;
      for (int e = 0; e < of.generator.entries; ++e) {
        if (!of.sides.contain(moved(p, of.offsets[e]))) continue;
        const std::uint64_t block = place(e);
        for (int c = 0; c < of.dof; ++c) {
          if (e != of.center || c != row) sum += std::fabs(RandomValues::value(block, std::int64_t{c} * of.dof + row));
        }
      }
      return sum;
    }

    struct Block {
      const Row& row;
      std::uint64_t place;
      bool diagonal;
      ECHELON_FN double at(int r, int column) const {
        const double drawn = RandomValues::value(place, std::int64_t{column} * row.of.dof + r);
        return diagonal && r == column ? row.sizes(r) + diagonal_margin(drawn) : drawn;
      }
    };
    ECHELON_FN Block block(int e, const Offset&) const { return {*this, place(e), e == of.center}; }
  };
  ECHELON_FN Row row(Ijk p) const { return {*this, p}; }
};

}  // namespace echelon::problems
