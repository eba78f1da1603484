// SPDX-License-Identifier: BSD-3-Clause
// Random blocks made diagonally dominant by rows; the generator is random_value.hpp's.
#include "echelon/problem/assembly/assembly.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/random_row.inl"

namespace echelon::problems {
namespace {

RandomRows recipe_of(const Grid& grid, const Stencil& stencil, int dof, std::uint64_t seed) {
  return {{mixed_bits(seed), stencil.size()}, Sides(grid), stencil.offsets().data(), stencil.center(), dof};
}

}  // namespace

StructMatrix<double> random(Grid grid, const Stencil& stencil, int dof, std::uint64_t seed) {
  StructMatrix<double> A(grid, stencil, dof);
  assemble(recipe_of(grid, stencil, dof, seed), A);
  return A;
}

Rows random_rows(Grid grid, const Stencil& stencil, int dof, std::uint64_t seed, Device device) {
  require_shape(grid, dof);
  RandomRows recipe = recipe_of(grid, stencil, dof, seed);
  RecipeTables tables;
  tables.offsets = Array<Offset>(stencil.offsets()).to(device);
  recipe.offsets = tables.offsets.data();
  return std::make_shared<RecipeRows<RandomRows>>(grid, stencil, dof, device, recipe, std::move(tables));
}

}  // namespace echelon::problems
