// SPDX-License-Identifier: BSD-3-Clause
// The recipes of variable_poisson_row.inl. Of the box: t(o) = Σ_d w_d (±1) Π_{c≠d} m(o_c), + for o_d = 0, m(0) = 5/12,
// m(±1) = 1/12. These transverse masses lie between lumped (1/2, 0: a star) and exact ones (1/3, 1/6: no coupling of face
// neighbours on a cube); with them a cube with constant κ has 26 negative neighbours, so its factorization cannot break
// down.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "echelon/base/error.hpp"
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/fields.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/spacing.hpp"
#include "echelon/problem/variable_poisson_row.inl"

namespace echelon::problems {

template <class Field>
void KappaSampler<Field>::refuse(double x, double y, double z) const {
  throw Error(
      ErrorCode::bad_argument,
      fmt::format("variable_poisson: the coefficient must be positive; at ({}, {}, {}) it is {}", x, y, z, kappa(x, y, z)));
}

template <class Field>
void DirectedSampler<Field>::refuse(double x, double y, double z) const {
  const PerAxis kappa = along(x, y, z);
  throw Error(
      ErrorCode::bad_argument,
      fmt::format("variable_poisson: the coefficient must be positive along every axis; at ({}, {}, {}) it is {}, {} "
                  "and {}",
                  x, y, z, kappa.x, kappa.y, kappa.z));
}

namespace {

constexpr const char* what = "the coefficient of variable_poisson";

PointSamples<1> sampled(const Coefficient& kappa, const SamplePoints& points, Device device) {
  if (const auto* smooth = kappa.target<SmoothCoefficient>()) {
    return {what, points, KappaSampler<SmoothCoefficient>{*smooth}, device};
  }
  if (const auto* jump = kappa.target<JumpCoefficient>())
    return {what, points, KappaSampler<JumpCoefficient>{*jump}, device};
  if (const auto* random = kappa.target<RandomCoefficient>())
    return {what, points, KappaSampler<RandomCoefficient>{*random}, device};
  return {what, points, KappaSampler<Coefficient>{kappa}, device};
}

PointSamples<3> sampled(const AxisField& along, const SamplePoints& points, Device device) {
  if (const auto* regions = along.target<RegionCoefficient>())
    return {what, points, DirectedSampler<RegionCoefficient>{*regions}, device};
  return {what, points, DirectedSampler<AxisField>{along}, device};
}

struct Weights {
  double along[3];  // ε_d (h/h_d)², 0 for axes that are not coupled
};

Weights weights(const Spacing& space, const double (&anisotropy)[3]) {
  Weights result{};
  for (int d = 0; d < 3; ++d) {
    if (!space.coupled[d]) continue;
    if (!(anisotropy[d] > 0) || !std::isfinite(anisotropy[d])) {
      throw Error(ErrorCode::bad_argument, fmt::format("variable_poisson: the anisotropy must be positive and finite; along "
                                                       "{} it is {}",
                                                       "xyz"[d], anisotropy[d]));
    }
    result.along[d] = anisotropy[d] * (space.smallest / space.h[d]) * (space.smallest / space.h[d]);
  }
  return result;
}

double element_weight(const Offset& offset, const Weights& weight, const Spacing& space) {
  const int o[3] = {offset.x, offset.y, offset.z};
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    double term = o[d] == 0 ? weight.along[d] : -weight.along[d];
    for (int c = 0; c < 3; ++c) {
      if (c != d && space.coupled[c]) term *= o[c] == 0 ? 5.0 / 12 : 1.0 / 12;
    }
    sum += term;
  }
  return sum;
}

/// A recipe and what it reads.
struct Prepared {
  std::variant<StarConductors, DirectedConductors, BoxElements> recipe;
  Array<double> kappa;
};

template <int components>
Prepared star(const Grid& grid, const Stencil& stencil, const Weights& weight, Boundary boundary,
              PointSamples<components> kappa) {
  Conductors<components> recipe{};
  recipe.kappa = kappa.view();
  std::copy_n(weight.along, 3, recipe.along);
  std::ranges::copy(stencil.offsets(), recipe.offsets);
  recipe.entries = stencil.size();
  recipe.center = stencil.center();
  recipe.closed = boundary == Boundary::neumann;
  recipe.sides = Sides(grid);
  return {recipe, std::move(kappa).values()};
}

Prepared star(const Grid& grid, const Stencil& stencil, const VarPoissonOptions& options, Device device) {
  const bool closed = options.boundary == Boundary::neumann;
  const Spacing space = spacing("variable_poisson", grid, stencil, closed ? Intervals::cells : Intervals::points_inside);
  const Weights weight = weights(space, options.anisotropy);
  if (closed) require_neighbours("variable_poisson", grid, space);
  const SamplePoints points{grid, closed ? Place::cells : Place::nodes, closed ? 0 : 1};
  if (options.along) return star(grid, stencil, weight, options.boundary, sampled(options.along, points, device));
  return star(grid, stencil, weight, options.boundary, sampled(options.kappa, points, device));
}

Prepared box(const Grid& grid, const Stencil& stencil, const VarPoissonOptions& options, Device device) {
  if (options.along) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("variable_poisson: a coefficient that differs by direction is for ±1 along the axes (star5, "
                            "star7), not for '{}'",
                            stencil.name()));
  }
  const bool closed = options.boundary == Boundary::neumann;
  const Spacing space =
      spacing("variable_poisson", grid, stencil, closed ? Intervals::points_on_walls : Intervals::points_inside);
  const Weights weight = weights(space, options.anisotropy);
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  std::int64_t elements[3];
  BoxElements recipe{};
  for (int d = 0; d < 3; ++d) {
    if (closed && space.coupled[d] && sides[d] == 1) {
      throw Error(ErrorCode::bad_argument, fmt::format("variable_poisson: without flux through the boundary '{}' needs two "
                                                       "points along {}",
                                                       stencil.name(), "xyz"[d]));
    }
    recipe.below[d] = closed && space.coupled[d];
    elements[d] = sides[d] + (closed ? -1 : 1) * space.coupled[d];
  }
  const Grid cells{elements[0], elements[1], elements[2]};
  auto kappa = sampled(options.kappa, {cells, Place::cells, 0}, device);
  recipe.kappa = kappa.view();
  recipe.elements = Sides(cells);
  for (int e = 0; e < stencil.size(); ++e) recipe.weight[e] = element_weight(stencil.offsets()[e], weight, space);
  std::copy_n(space.coupled, 3, recipe.coupled);
  return {recipe, std::move(kappa).values()};
}

Prepared prepared(const Grid& grid, const Stencil& stencil, const VarPoissonOptions& options, Device device) {
  if (is_full_box(stencil, spacing("variable_poisson", grid, stencil))) return box(grid, stencil, options, device);
  if (is_unit_star(stencil)) return star(grid, stencil, options, device);
  throw Error(ErrorCode::bad_argument,
              fmt::format("variable_poisson is not defined on the stencil '{}': it needs ±1 along the axes (star5, star7) "
                          "or the full box (box9, box27)",
                          stencil.name()));
}

void require_contrast(double contrast, double least, double most) {
  if (contrast >= least && contrast <= most) return;
  throw Error(ErrorCode::bad_argument, fmt::format("a contrast is from {} to {}; got {}", least, most, contrast));
}

}  // namespace

Coefficient smooth_coefficient(double contrast) {
  if (!(contrast >= 1) || !std::isfinite(contrast))
    throw Error(ErrorCode::bad_argument, fmt::format("a contrast is at least 1 and finite; got {}", contrast));
  return SmoothCoefficient{0.5 * std::log(contrast)};
}

Coefficient jump_coefficient(double contrast) {
  if (!(contrast > 0) || !std::isfinite(contrast))
    throw Error(ErrorCode::bad_argument, fmt::format("a contrast is positive and finite; got {}", contrast));
  return JumpCoefficient{contrast};
}

Coefficient random_coefficient(double contrast, std::uint64_t seed) {
  require_contrast(contrast, 1, 1e300);
  return RandomCoefficient{elementary::log(contrast), mixed_bits(seed)};
}

AxisField region_coefficient(double contrast) {
  require_contrast(contrast, std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
  return RegionCoefficient{contrast};
}

StructMatrix<double> variable_poisson(Grid grid, const Stencil& stencil, const VarPoissonOptions& options) {
  StructMatrix<double> A(grid, stencil, 1);
  const Prepared made = prepared(grid, stencil, options, Device::host());
  std::visit([&](const auto& recipe) { assemble(recipe, A); }, made.recipe);
  return A;
}

Rows variable_poisson_rows(Grid grid, const Stencil& stencil, const VarPoissonOptions& options, Device device) {
  require_shape(grid, 1);
  Prepared made = prepared(grid, stencil, options, device);
  RecipeTables tables;
  tables.numbers.push_back(std::move(made.kappa));
  return std::visit(
      [&]<class Recipe>(const Recipe& recipe) -> Rows {
        return std::make_shared<RecipeRows<Recipe>>(grid, stencil, 1, device, recipe, std::move(tables));
      },
      made.recipe);
}

}  // namespace echelon::problems
