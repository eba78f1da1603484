// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/blocks/lattice_colours.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace echelon {
namespace {

/// Beyond that many colours the sums are not searched: sides taken apart always do.
constexpr std::int64_t most_searched = 32;

std::vector<Offset> that_couple(const Grid& lattice, std::span<const Offset> offsets) {
  std::vector<Offset> all;
  for (const Offset& o : offsets) {
    if (o == Offset{}) continue;
    if (std::abs(o.x) < lattice.nx && std::abs(o.y) < lattice.ny && std::abs(o.z) < lattice.nz) all.push_back(o);
  }
  return all;
}

template <class Apart>
bool separates(std::span<const Offset> offsets, const Apart& apart) {
  return std::ranges::all_of(offsets, apart);
}

/// How many steps along x lead back to a colour: few are dense.
int period_along_x(const LatticeColours& c) {
  return c.modulus > 1 ? c.modulus / std::gcd(c.modulus, c.factor[0]) : static_cast<int>(c.period[0]);
}

void try_sides(std::int64_t count, std::span<const Offset> offsets, std::vector<LatticeColours>& found) {
  for (std::int64_t a = 1; a <= count; ++a) {
    if (count % a != 0) continue;
    for (std::int64_t b = 1; b <= count / a; ++b) {
      if (count / a % b != 0) continue;
      const std::int64_t c = count / a / b;
      if (separates(offsets, [&](const Offset& o) { return o.x % a != 0 || o.y % b != 0 || o.z % c != 0; })) {
        found.push_back({1, {0, 0, 0}, {a, b, c}});
      }
    }
  }
}

void try_sums(int m, std::span<const Offset> offsets, std::vector<LatticeColours>& found) {
  if (m < 2) return;
  for (int alpha = 0; alpha < m; ++alpha) {
    for (int beta = 0; beta < m; ++beta) {
      for (int gamma = 0; gamma < m; ++gamma) {
        if (!separates(offsets, [&](const Offset& o) {
              return (std::int64_t{alpha} * o.x + std::int64_t{beta} * o.y + std::int64_t{gamma} * o.z) % m != 0;
            })) {
          continue;
        }
        found.push_back({m, {alpha, beta, gamma}, {1, 1, 1}});
        return;  // the first found is small in α
      }
    }
  }
}

}  // namespace

LatticeColours lattice_colours(const Grid& lattice, std::span<const Offset> offsets) {
  const std::vector<Offset> all = that_couple(lattice, offsets);
  std::array<std::int64_t, 3> reach = {0, 0, 0};
  for (const Offset& o : all) {
    reach[0] = std::max<std::int64_t>(reach[0], std::abs(o.x));
    reach[1] = std::max<std::int64_t>(reach[1], std::abs(o.y));
    reach[2] = std::max<std::int64_t>(reach[2], std::abs(o.z));
  }
  const LatticeColours safe{1, {0, 0, 0}, {reach[0] + 1, reach[1] + 1, reach[2] + 1}};
  for (std::int64_t count = 1; count < std::min(safe.colours(), most_searched); ++count) {
    std::vector<LatticeColours> found;
    try_sides(count, all, found);
    try_sums(static_cast<int>(count), all, found);
    if (found.empty()) continue;
    return *std::ranges::min_element(found, {}, period_along_x);
  }
  return safe;
}

}  // namespace echelon
