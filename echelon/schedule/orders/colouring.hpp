// SPDX-License-Identifier: BSD-3-Clause
// Colours for the rows of a matrix: no two rows that are coupled in A + Aᵀ share one (distance 1). First-fit takes for each
// row the smallest colour that no coupled row before it has:
//   in natural order (on a grid with a star stencil: red and black), or
//   in the order of falling random weights, which is what Jones and Plassmann's parallel rounds arrive at, too: a row is
//   coloured as soon as it outweighs every coupled row without a colour. M. T. Jones and P. E. Plassmann, 1993.
// Eliminated colour by colour, the levels of ILU(0) are the colours. The same for every thread count.
#pragma once

#include "echelon/schedule/ordering.hpp"
#include "echelon/schedule/pattern.hpp"

namespace echelon {

struct Colouring {
  Array<std::int32_t> colour;  // by row, from 0
  std::int32_t colours = 0;
};

/// The weight of a row in the random order; rows of equal weight go by their number.
std::uint32_t colouring_weight(std::uint32_t row);

Colouring first_fit_colouring(const PatternView& A);
Colouring independent_set_colouring(const PatternView& A);

/// New position → row: colour by colour, natural order within.
Array<std::int32_t> order_by_colour(const Colouring& colouring);

/// What `ordering` other than natural makes of a pattern.
struct EliminationOrder {
  Array<std::int32_t> order;  // new position → row
  std::int32_t colours = 0;   // 0 where the order has none
};
EliminationOrder elimination_order(const PatternView& A, Ordering ordering);

}  // namespace echelon
