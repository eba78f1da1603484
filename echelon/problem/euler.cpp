// SPDX-License-Identifier: BSD-3-Clause
// The recipe of euler_row.inl: base flow, time step, differences.
#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/euler_row.inl"
#include "echelon/problem/fields.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/time_step.hpp"

namespace echelon::problems {

template <class Field>
void GasSampler<Field>::refuse(double x, double y, double z) const {
  const GasState s = base(x, y, z);
  throw Error(
      ErrorCode::bad_argument,
      fmt::format("euler: density and pressure of the base flow must be positive; at ({}, {}, {}) they are {} and {}", x, y,
                  z, s.rho, s.p));
}

namespace {

using Samples = PointSamples<euler_gas::components>;

Samples sampled(const GasFlow& base, const Grid& grid, Device device) {
  constexpr const char* what = "the base flow of euler";
  const SamplePoints points{grid, Place::nodes, 0};
  const OpenAxes axes(grid);
  const GasWaves speed{{axes.open[0], axes.open[1], axes.open[2]}};
  if (const auto* waved = base.target<WavedGas>()) return {what, points, GasSampler<WavedGas>{*waved}, device, speed};
  return {what, points, GasSampler<GasFlow>{base}, device, speed};
}

EulerRows recipe_of(const Grid& grid, const EulerOptions& options, const Samples& flow) {
  const OpenAxes axes(grid);
  const double dt = chosen_step("euler", options.step, axes, flow.fastest() > 0 ? flow.fastest() : 1);
  EulerRows recipe{};
  recipe.flow = flow.view();
  for (int d = 0; d < 3; ++d) {
    recipe.open[d] = axes.open[d];
    recipe.step[d] = dt / axes.h[d];
    recipe.own_step[d] = 1.5 * dt / axes.h[d];
  }
  return recipe;
}

}  // namespace

StructMatrix<double> euler(Grid grid, const EulerOptions& options) {
  StructMatrix<double> A(grid, stencils::star13(), EulerRows::unknowns);
  const Samples flow = sampled(options.base, grid, Device::host());
  assemble(recipe_of(grid, options, flow), A);
  return A;
}

Rows euler_rows(Grid grid, const EulerOptions& options, Device device) {
  require_shape(grid, EulerRows::unknowns);
  Samples flow = sampled(options.base, grid, device);
  Stencil stencil = stencils::star13();
  const EulerRows recipe = recipe_of(grid, options, flow);
  RecipeTables tables;
  tables.numbers.push_back(std::move(flow).values());
  return std::make_shared<RecipeRows<EulerRows>>(grid, std::move(stencil), EulerRows::unknowns, device, recipe,
                                                 std::move(tables));
}

}  // namespace echelon::problems
