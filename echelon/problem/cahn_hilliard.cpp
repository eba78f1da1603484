// SPDX-License-Identifier: BSD-3-Clause
// The recipe of cahn_hilliard_row.inl: base state, widths of interfaces, time step. Two steps along the axes at most:
// diamond25.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "echelon/base/error.hpp"
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/cahn_hilliard_row.inl"
#include "echelon/problem/fields.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/time_step.hpp"

namespace echelon::problems {

template <class Field>
void PhaseSampler<Field>::refuse(double x, double y, double z) const {
  throw Error(ErrorCode::bad_argument,
              fmt::format("cahn_hilliard: the mobility is negative at ({}, {}, {}): |u| or |v| is too large", x, y, z));
}

namespace {

using Samples = PointSamples<phases::components>;

void check(const CahnHilliardOptions& options) {
  for (const double c : options.coupling) {
    if (!std::isfinite(c)) throw Error(ErrorCode::bad_argument, "cahn_hilliard: the couplings must be finite");
  }
  if (!(options.nonlocal >= 0) || !std::isfinite(options.nonlocal)) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("cahn_hilliard: the nonlocal strength must be 0 or more and finite; got {}", options.nonlocal));
  }
  if (!(options.degeneracy >= 0 && options.degeneracy < 1)) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("cahn_hilliard: the degeneracy must be from 0 to below 1; got {}", options.degeneracy));
  }
}

struct Lengths {
  double per_h2[3];   // 1/h_d²
  double epsilon[2];  // ε_u, ε_v
};

Lengths lengths(const Grid& grid, const double (&width)[2]) {
  Lengths result{};
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  double smallest = 1;
  for (int d = 0; d < 3; ++d) {
    const double h = 1.0 / static_cast<double>(sides[d]);
    result.per_h2[d] = 1 / (h * h);
    smallest = std::min(smallest, h);
  }
  // tanh(s/(√2 ε)) goes from −0.9 to 0.9 over 2√2 ε artanh 0.9.
  const double cells[2] = {4, 6};
  for (int r = 0; r < 2; ++r) {
    result.epsilon[r] = cells[r] * smallest / (2 * std::numbers::sqrt2 * std::atanh(0.9));
    if (width[r] == 0) continue;
    require_step("cahn_hilliard", r == 0 ? "the interface width of u" : "the interface width of v", width[r]);
    result.epsilon[r] = width[r];
  }
  return result;
}

template <class Field>
PhaseSampler<Field> sampler_of(const Field& base, const CahnHilliardOptions& options) {
  const auto& c = options.coupling;
  return {base, {c[0], c[1], c[2]}, options.degeneracy};
}

Samples sampled(const CahnHilliardOptions& options, const Grid& grid, Device device) {
  constexpr const char* what = "a coefficient of cahn_hilliard";
  const SamplePoints points{grid, Place::cells, 0};
  if (const auto* waved = options.base.target<WavedPhases>()) return {what, points, sampler_of(*waved, options), device};
  return {what, points, sampler_of(options.base, options), device};
}

CahnHilliardRows recipe_of(const Grid& grid, const CahnHilliardOptions& options) {
  check(options);
  const Lengths length = lengths(grid, options.interface_width);
  CahnHilliardRows recipe{};
  recipe.sides = Sides(grid);
  std::copy_n(length.per_h2, 3, recipe.per_h2);
  std::copy_n(length.epsilon, 2, recipe.epsilon);
  recipe.nonlocal = options.nonlocal;
  recipe.dt = 0.25 * length.epsilon[0] * length.epsilon[0];
  if (options.dt != 0) {
    require_step("cahn_hilliard", "the time step", options.dt);
    recipe.dt = options.dt;
  }
  return recipe;
}

}  // namespace

StructMatrix<double> cahn_hilliard(Grid grid, const CahnHilliardOptions& options) {
  StructMatrix<double> A(grid, stencils::diamond25(), CahnHilliardRows::unknowns);
  CahnHilliardRows recipe = recipe_of(grid, options);
  const Samples samples = sampled(options, grid, Device::host());
  recipe.samples = samples.view();
  assemble(recipe, A);
  return A;
}

Rows cahn_hilliard_rows(Grid grid, const CahnHilliardOptions& options, Device device) {
  require_shape(grid, CahnHilliardRows::unknowns);
  CahnHilliardRows recipe = recipe_of(grid, options);
  Samples samples = sampled(options, grid, device);
  recipe.samples = samples.view();
  RecipeTables tables;
  tables.numbers.push_back(std::move(samples).values());
  return std::make_shared<RecipeRows<CahnHilliardRows>>(grid, stencils::diamond25(), CahnHilliardRows::unknowns, device,
                                                        recipe, std::move(tables));
}

}  // namespace echelon::problems
