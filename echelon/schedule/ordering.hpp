// SPDX-License-Identifier: BSD-3-Clause
// The orders in which a factorization may take the rows of a matrix; schedule/orders/ makes them.
#pragma once

namespace echelon {

/// Colours: rows of one colour, which are not coupled, are eliminated together (schedule/orders/colouring.hpp): few levels,
/// and a weaker factorization.
enum class Ordering { natural, rcm, colours, random_colours };

/// "natural", "rcm", "colours", "random-colours"
const char* word(Ordering ordering);

}  // namespace echelon
