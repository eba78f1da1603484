// SPDX-License-Identifier: BSD-3-Clause
// h²(−Δu + Pe v·∇u), |v| = 1. Along axis d with spacing h_d: diffusion −(h/h_d)² (1, −2, 1); convection with c = Pe v_d
// h²/h_d takes the upwind neighbour: c > 0 gives −c at the point before and c at the centre, c < 0 gives c after and −c at
// the centre.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "echelon/base/error.hpp"
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/convection_diffusion_row.inl"
#include "echelon/problem/fields.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/spacing.hpp"

namespace echelon::problems {
namespace {

constexpr const char* not_finite = "convection_diffusion: velocity and Péclet number must be finite";

void require_unit_star(const Stencil& stencil) {
  for (const Offset& o : stencil.offsets()) {
    if (std::abs(o.x) + std::abs(o.y) + std::abs(o.z) <= 1) continue;
    throw Error(ErrorCode::bad_argument, fmt::format("convection_diffusion is not defined on the stencil '{}': it needs ±1 "
                                                     "along the axes only (star5, star7), and ({},{},{}) is there",
                                                     stencil.name(), o.x, o.y, o.z));
  }
}

/// Of each entry.
Array<double> values_of(const Grid& grid, const Stencil& stencil, const ConvDiffOptions& options) {
  require_unit_star(stencil);
  const Spacing space = spacing("convection_diffusion", grid, stencil);
  double speed = 0;
  for (int d = 0; d < 3; ++d) speed = std::hypot(speed, space.coupled[d] ? options.velocity[d] : 0.0);
  if (!std::isfinite(speed) || !std::isfinite(options.peclet)) {
    throw Error(ErrorCode::bad_argument, not_finite);
  }
  Array<double> value(stencil.size(), 0.0);
  double diagonal = 0;
  for (int d = 0; d < 3; ++d) {
    if (!space.coupled[d]) continue;
    const double diffusion = (space.smallest / space.h[d]) * (space.smallest / space.h[d]);
    const double direction = speed > 0 ? options.velocity[d] / speed : 0;
    const double convection = options.peclet * direction * space.smallest * (space.smallest / space.h[d]);
    const Offset before{-(d == 0), -(d == 1), -(d == 2)}, after{d == 0, d == 1, d == 2};
    value[stencil.find(before)] = -diffusion - std::fmax(convection, 0);
    value[stencil.find(after)] = -diffusion + std::fmin(convection, 0);
    diagonal += 2 * diffusion + std::abs(convection);
  }
  value[stencil.center()] = diagonal;
  return value;
}

/// Of a velocity that changes; its pointer is to `velocity`.
struct Upwinded {
  UpwindRows recipe;
  Array<double> velocity;
};

Upwinded upwinded(const Grid& grid, const Stencil& stencil, const ConvDiffOptions& options, Device device) {
  require_unit_star(stencil);
  const Spacing space = spacing("convection_diffusion", grid, stencil);
  if (!std::isfinite(options.peclet)) throw Error(ErrorCode::bad_argument, not_finite);
  constexpr const char* what = "the velocity of convection_diffusion";
  const SamplePoints points{grid, Place::nodes, 0};
  const auto* vortex = options.flow.target<RecirculatingFlow>();
  auto velocity = vortex ? PointSamples<3>(what, points, FlowSampler<RecirculatingFlow>{*vortex}, device)
                         : PointSamples<3>(what, points, FlowSampler<AxisField>{options.flow}, device);
  UpwindRows recipe{};
  recipe.velocity = velocity.view();
  for (int d = 0; d < 3; ++d) {
    if (!space.coupled[d]) continue;
    recipe.diffusion[d] = (space.smallest / space.h[d]) * (space.smallest / space.h[d]);
    recipe.convection[d] = options.peclet * space.smallest * (space.smallest / space.h[d]);
  }
  recipe.center = stencil.center();
  return {recipe, std::move(velocity).values()};
}

}  // namespace

AxisField recirculating_flow() { return RecirculatingFlow{}; }

StructMatrix<double> convection_diffusion(Grid grid, const Stencil& stencil, const ConvDiffOptions& options) {
  StructMatrix<double> A(grid, stencil, 1);
  if (options.flow) {
    const auto made = upwinded(grid, stencil, options, Device::host());
    assemble(made.recipe, A);
  } else {
    const auto value = values_of(grid, stencil, options);
    assemble(ConstantRows{value.data()}, A);
  }
  return A;
}

Rows convection_diffusion_rows(Grid grid, const Stencil& stencil, const ConvDiffOptions& options, Device device) {
  require_shape(grid, 1);
  if (!options.flow) return constant_rows(grid, stencil, values_of(grid, stencil, options), device);
  auto made = upwinded(grid, stencil, options, device);
  RecipeTables tables;
  tables.numbers.push_back(std::move(made.velocity));
  return std::make_shared<RecipeRows<UpwindRows>>(grid, stencil, 1, device, made.recipe, std::move(tables));
}

}  // namespace echelon::problems
