// SPDX-License-Identifier: BSD-3-Clause
// The recipe of navier_stokes_row.inl: base flow, time step, differences.
#include <fmt/format.h>

#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/fields.hpp"
#include "echelon/problem/navier_stokes_row.inl"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/time_step.hpp"

namespace echelon::problems {

template <class Field>
void ViscousSampler<Field>::refuse(double x, double y, double z) const {
  const ViscousState s = base(x, y, z);
  throw Error(ErrorCode::bad_argument,
              fmt::format("navier_stokes: the base flow needs a positive density and a viscosity of 0 or more; at ({}, {}, "
                          "{}) they are {} and {}",
                          x, y, z, s.rho, s.mu));
}

namespace {

using Samples = PointSamples<viscous_gas::components>;

Samples sampled(const ViscousFlow& base, const Grid& grid, Device device) {
  constexpr const char* what = "the base flow of navier_stokes";
  const SamplePoints points{grid, Place::nodes, 1};
  const OpenAxes axes(grid);
  const ViscousSpeed speed{{axes.open[0], axes.open[1], axes.open[2]}};
  if (const auto* waved = base.target<WavedViscous>())
    return {what, points, ViscousSampler<WavedViscous>{*waved}, device, speed};
  return {what, points, ViscousSampler<ViscousFlow>{base}, device, speed};
}

Difference difference(const Offset& offset, const OpenAxes& axes) {
  const int o[3] = {offset.x, offset.y, offset.z};
  const auto across = [&](int c) { return !axes.open[c] ? 1.0 : o[c] == 0 ? 10.0 / 12 : 1.0 / 12; };
  const auto slope = [&](int d) { return axes.open[d] ? o[d] / (2 * axes.h[d]) : 0.0; };
  const auto curvature = [&](int d) { return axes.open[d] ? (o[d] == 0 ? -2.0 : 1.0) / (axes.h[d] * axes.h[d]) : 0.0; };
  Difference result{};
  result.value = o[0] == 0 && o[1] == 0 && o[2] == 0;
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    result.first[a] = slope(a) * across(b) * across(c);
    result.second[a][a] = curvature(a) * across(b) * across(c);
    result.second[a][b] = result.second[b][a] = slope(a) * slope(b) * across(c);
  }
  result.laplacian = result.second[0][0] + result.second[1][1] + result.second[2][2];
  return result;
}

NavierStokesRows recipe_of(const Grid& grid, const Stencil& stencil, const NavierStokesOptions& options,
                           const Samples& flow) {
  const OpenAxes axes(grid);
  NavierStokesRows recipe{};
  recipe.flow = flow.view();
  for (int e = 0; const Offset& o : stencil.offsets()) recipe.differences[e++] = difference(o, axes);
  recipe.dt = chosen_step("navier_stokes", options.step, axes, flow.fastest() + 1);
  for (int d = 0; d < 3; ++d) {
    recipe.open[d] = axes.open[d];
    recipe.h[d] = axes.h[d];
  }
  return recipe;
}

}  // namespace

StructMatrix<double> navier_stokes(Grid grid, const NavierStokesOptions& options) {
  StructMatrix<double> A(grid, stencils::box27(), NavierStokesRows::unknowns);
  const Samples flow = sampled(options.base, grid, Device::host());
  assemble(recipe_of(grid, A.stencil(), options, flow), A);
  return A;
}

Rows navier_stokes_rows(Grid grid, const NavierStokesOptions& options, Device device) {
  require_shape(grid, NavierStokesRows::unknowns);
  Samples flow = sampled(options.base, grid, device);
  Stencil stencil = stencils::box27();
  RecipeTables tables;
  const NavierStokesRows recipe = recipe_of(grid, stencil, options, flow);
  tables.numbers.push_back(std::move(flow).values());
  return std::make_shared<RecipeRows<NavierStokesRows>>(grid, std::move(stencil), NavierStokesRows::unknowns, device, recipe,
                                                        std::move(tables));
}

}  // namespace echelon::problems
