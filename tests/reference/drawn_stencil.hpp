// SPDX-License-Identifier: BSD-3-Clause
// A stencil drawn by RapidCheck, for properties that must hold on any: wider than the grid, unsymmetric, or a point alone.
#pragma once

#include <rapidcheck.h>

#include <set>
#include <tuple>
#include <vector>

#include "echelon/stencil/stencil.hpp"

namespace echelon::reference {

inline Stencil drawn_stencil() {
  std::set<std::tuple<int, int, int>> chosen;
  for (int n = *rc::gen::inRange(0, 9); n > 0; --n) {
    chosen.insert({*rc::gen::inRange(-4, 5), *rc::gen::inRange(-2, 3), *rc::gen::inRange(-2, 3)});
  }
  std::vector<Offset> offsets;
  for (const auto& [x, y, z] : chosen) offsets.push_back({x, y, z});
  return Stencil(offsets, "drawn");
}

}  // namespace echelon::reference
