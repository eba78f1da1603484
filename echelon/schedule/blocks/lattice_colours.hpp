// SPDX-License-Identifier: BSD-3-Clause
// Colours of a lattice for any set of couplings: no point shares its colour with one that an offset leads to. A colour is
// the image of (I, J, K) in a finite group, so that all colours have the same shape:
//   (I mod a, J mod b, K mod c), or (αI + βJ + γK) mod m.
// The fewest colours that either finds; among equals the one whose colours are densest along x. A star has 2, a box of
// reach one 8 (in the plane 4), |x|+|y|+|z| ≤ 2 has 7.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "echelon/stencil/stencil.hpp"

namespace echelon {

struct LatticeColours {
  int modulus = 1;                                 // of the sum; 1 when the sides are taken apart
  std::array<int, 3> factor = {0, 0, 0};           // α, β, γ
  std::array<std::int64_t, 3> period = {1, 1, 1};  // a, b, c

  std::int64_t colours() const { return modulus > 1 ? modulus : period[0] * period[1] * period[2]; }
  std::int64_t colour(std::int64_t i, std::int64_t j, std::int64_t k) const {
    if (modulus > 1) return (factor[0] * i + factor[1] * j + factor[2] * k) % modulus;
    return (k % period[2] * period[1] + j % period[1]) * period[0] + i % period[0];
  }
};

/// Offsets that leave the lattice from every point do not count.
LatticeColours lattice_colours(const Grid& lattice, std::span<const Offset> offsets);

}  // namespace echelon
