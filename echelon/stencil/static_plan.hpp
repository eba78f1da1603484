// SPDX-License-Identifier: BSD-3-Clause
// The elimination on a stencil that is known when the program is compiled: EliminationPlan as constants, so that a kernel
// can keep a whole row in registers and write every product out. The common stencils are listed here; which one a matrix
// has is found from its offsets, never from a name.
#pragma once

#include <span>

#include "echelon/stencil/stencil.hpp"

namespace echelon {

template <int N>
struct StaticPlan {
  static constexpr int entries = N;
  Offset offset[N] = {};  // in natural order
  int center = 0;
  bool diagonal_only = true;
  int upper[N][N] = {};  // [lower][target]: the upper entry whose product falls on the target, −1 without

  constexpr bool matches(std::span<const Offset> offsets) const {
    if (offsets.size() != static_cast<std::size_t>(N)) return false;
    for (int e = 0; e < N; ++e) {
      if (!(offsets[static_cast<std::size_t>(e)] == offset[e])) return false;
    }
    return true;
  }
};

/// All offsets with |x|, |y|, |z| ≤ reach that `Belongs` accepts.
template <int N, class Belongs>
constexpr StaticPlan<N> static_plan(int reach, bool flat, const Belongs& belongs) {
  StaticPlan<N> plan;
  int count = 0;
  for (int z = flat ? 0 : -reach; z <= (flat ? 0 : reach); ++z) {
    for (int y = -reach; y <= reach; ++y) {
      for (int x = -reach; x <= reach; ++x) {
        if (!belongs(x, y, z)) continue;
        if (x == 0 && y == 0 && z == 0) plan.center = count;
        plan.offset[count++] = Offset{x, y, z};
      }
    }
  }
  for (int m = 0; m < N; ++m) {
    for (int t = 0; t < N; ++t) {
      plan.upper[m][t] = -1;
      for (int u = plan.center + 1; m < plan.center && u < N; ++u) {
        const Offset &a = plan.offset[m], &b = plan.offset[u], &c = plan.offset[t];
        if (a.x + b.x != c.x || a.y + b.y != c.y || a.z + b.z != c.z) continue;
        plan.upper[m][t] = u;
        if (t != plan.center) plan.diagonal_only = false;
      }
    }
  }
  return plan;
}

namespace static_plans {

constexpr int size(int x) { return x < 0 ? -x : x; }
constexpr int sizes(int x, int y, int z) { return size(x) + size(y) + size(z); }
/// On an axis.
constexpr bool axial(int x, int y, int z) { return (x != 0) + (y != 0) + (z != 0) <= 1; }

struct Star5 {
  static constexpr auto plan = static_plan<5>(1, true, [](int x, int y, int z) { return sizes(x, y, z) <= 1; });
};
struct Star9 {
  static constexpr auto plan = static_plan<9>(2, true, axial);
};
struct Box9 {
  static constexpr auto plan = static_plan<9>(1, true, [](int, int, int) { return true; });
};
struct Star7 {
  static constexpr auto plan = static_plan<7>(1, false, [](int x, int y, int z) { return sizes(x, y, z) <= 1; });
};
struct Star13 {
  static constexpr auto plan = static_plan<13>(2, false, axial);
};
struct Diamond13 {
  static constexpr auto plan = static_plan<13>(
      1, false, [](int x, int y, int z) { return sizes(x, y, z) <= 1 || (sizes(x, y, z) == 2 && x + y + z == 0); });
};
struct Diamond25 {
  static constexpr auto plan = static_plan<25>(2, false, [](int x, int y, int z) { return sizes(x, y, z) <= 2; });
};
struct Box27 {
  static constexpr auto plan = static_plan<27>(1, false, [](int, int, int) { return true; });
};

}  // namespace static_plans
}  // namespace echelon
