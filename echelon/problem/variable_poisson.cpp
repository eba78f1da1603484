// SPDX-License-Identifier: BSD-3-Clause
// The recipes of variable_poisson_row.inl. Of the box: t(o) = Σ_d w_d (±1) Π_{c≠d} m(o_c), + for o_d = 0, m(0) = 5/12,
// m(±1) = 1/12. These transverse masses lie between lumped (1/2, 0: a star) and exact ones (1/3, 1/6: no coupling of face
// neighbours on a cube); with them a cube with constant κ has 26 negative neighbours, so its factorization cannot break
// down.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

namespace {

using Samples = PointSamples<1>;

Samples sampled(const Coefficient& kappa, const SamplePoints& points, Device device) {
  constexpr const char* what = "the coefficient of variable_poisson";
  if (const auto* smooth = kappa.target<SmoothCoefficient>()) {
    return {what, points, KappaSampler<SmoothCoefficient>{*smooth}, device};
  }
  if (const auto* jump = kappa.target<JumpCoefficient>())
    return {what, points, KappaSampler<JumpCoefficient>{*jump}, device};
  return {what, points, KappaSampler<Coefficient>{kappa}, device};
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
  std::variant<StarConductors, BoxElements> recipe;
  Samples kappa;
};

Prepared star(const Stencil& stencil, const Weights& weight, Samples kappa) {
  StarConductors recipe{};
  recipe.kappa = kappa.view();
  std::copy_n(weight.along, 3, recipe.along);
  std::ranges::copy(stencil.offsets(), recipe.offsets);
  recipe.entries = stencil.size();
  recipe.center = stencil.center();
  return {recipe, std::move(kappa)};
}

Prepared box(const Stencil& stencil, const Weights& weight, const Spacing& space, Samples kappa) {
  BoxElements recipe{};
  recipe.kappa = kappa.view();
  for (int e = 0; e < stencil.size(); ++e) recipe.weight[e] = element_weight(stencil.offsets()[e], weight, space);
  std::copy_n(space.coupled, 3, recipe.coupled);
  return {recipe, std::move(kappa)};
}

Prepared prepared(const Grid& grid, const Stencil& stencil, const VarPoissonOptions& options, Device device) {
  const Spacing space = spacing("variable_poisson", grid, stencil);
  const Weights weight = weights(space, options.anisotropy);
  if (is_full_box(stencil, space)) {
    const Grid elements{grid.nx + space.coupled[0], grid.ny + space.coupled[1], grid.nz + space.coupled[2]};
    return box(stencil, weight, space, sampled(options.kappa, {elements, Place::cells, 0}, device));
  }
  if (is_unit_star(stencil)) return star(stencil, weight, sampled(options.kappa, {grid, Place::nodes, 1}, device));
  throw Error(ErrorCode::bad_argument,
              fmt::format("variable_poisson is not defined on the stencil '{}': it needs ±1 along the axes (star5, star7) "
                          "or the full box (box9, box27)",
                          stencil.name()));
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
  tables.numbers.push_back(std::move(made.kappa).values());
  return std::visit(
      [&]<class Recipe>(const Recipe& recipe) -> Rows {
        return std::make_shared<RecipeRows<Recipe>>(grid, stencil, 1, device, recipe, std::move(tables));
      },
      made.recipe);
}

}  // namespace echelon::problems
