// SPDX-License-Identifier: BSD-3-Clause
// Rows of h²(−Δu + Pe v·∇u) with a velocity v that changes from point to point: the upwind differences of
// convection_diffusion.cpp, with the velocity at the row's own point. Diagonals are at least the sum of the others' sizes.
#pragma once

#include <cmath>

#include "echelon/problem/assembly/point_samples.hpp"
#include "echelon/problem/assembly/recipe.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::problems {

struct UpwindRows {
  static constexpr int unknowns = 1;
  static constexpr std::int64_t operations = 40;
  SampleView<3> velocity;  // at the points
  double diffusion[3];     // (h/h_d)², 0 for axes that are not coupled
  double convection[3];    // Pe h²/h_d, likewise
  int center;

  struct Block {
    double value;
    ECHELON_FN double at(int, int) const { return value; }
  };
  struct Row {
    const UpwindRows& of;
    double along[3];  // Pe v_d h²/h_d

    ECHELON_FN Block block(int e, const Offset& o) const {
      if (e == of.center) {
        double diagonal = 0;
        for (int d = 0; d < 3; ++d) diagonal += 2 * of.diffusion[d] + std::fabs(along[d]);
        return {diagonal};
      }
      const int axis = axis_of(o);
      const double upwind = (o.x + o.y + o.z) * pick(along, axis);  // > 0: the flow goes towards the neighbour
      return {-pick(of.diffusion, axis) + std::fmin(upwind, 0.0)};
    }
  };
  ECHELON_FN Row row(Ijk p) const {
    const double* v = velocity.at(p.i, p.j, p.k);
    return {*this, {convection[0] * v[0], convection[1] * v[1], convection[2] * v[2]}};
  }
};

/// The velocity of a field: a formula, or a user's function.
template <class Field>
struct FlowSampler {
  static constexpr int components = 3;
  Field flow;
  ECHELON_FN bool operator()(double x, double y, double z, double* value) const {
    const PerAxis v = flow(x, y, z);
    value[0] = v.x, value[1] = v.y, value[2] = v.z;
    return true;
  }
  /// Every velocity that is finite is taken.
  void refuse(double, double, double) const {}
};

}  // namespace echelon::problems
