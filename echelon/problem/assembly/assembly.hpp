// SPDX-License-Identifier: BSD-3-Clause
// From a recipe to a matrix: into the user order of a StructMatrix on the host, or as rows that are written in tile order
// where they are wanted (RecipeRows), on a GPU by a kernel. Neighbours outside the grid are zero.
// Bytes a point on a GPU: 8 b² for each entry, written once; what the recipe samples is read through the caches.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/row_source.hpp"
#include "echelon/problem/assembly/point_loop.hpp"
#include "echelon/problem/assembly/recipe.hpp"
#include "echelon/stencil/static_plan.hpp"

namespace echelon::problems {

/// Fills a matrix of zeros.
template <class Recipe>
void assemble(const Recipe& recipe, StructMatrix<double>& A) {
  const Grid grid = A.grid();
  const int b = Recipe::unknowns > 0 ? Recipe::unknowns : A.dof();
  const auto offsets = A.stencil().offsets();
  const auto entries = static_cast<int>(offsets.size());
  double* const values = A.values().data();
  for_each_point(grid, Recipe::operations, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t point) {
    const auto row = recipe.row({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)});
    for (int e = 0; e < entries; ++e) {
      const Offset o = offsets[static_cast<std::size_t>(e)];
      if (!grid.contains(i + o.x, j + o.y, k + o.z)) continue;
      double* to = values + (e * grid.points() + point) * b * b;
      with_block(row, e, o, [&](const auto& block) {
        for (int c = 0; c < b; ++c) {
          for (int r = 0; r < b; ++r) *to++ = block.at(r, c);
        }
      });
    }
  });
}

/// An entry of the order that is written.
struct AssemblyEntry {
  Offset offset;
  int source;  // the recipe's number, −1 for none
};

/// What is written, as kernels see it.
struct AssemblyView {
  LayoutView vector;  // of the order
  const AssemblyEntry* entries;
  int entry_count, block, longest;  // longest: levels of a tile
  bool known;                       // the recipe's own entries, and its stencil is one the compiler knows
  double* values;
};

/// One scalar row: `first` is the place of its first column of the first entry, `stride` the way from column to column.
template <class Recipe>
ECHELON_FN void write_row(const AssemblyView& v, const Recipe& recipe, Ijk p, int row, double* first, std::int64_t stride) {
  const int b = Recipe::unknowns > 0 ? Recipe::unknowns : v.block;
  const Wavefront& front = v.vector.front;
  const auto of_point = recipe.row(p);
  for (int e = 0; e < v.entry_count; ++e) {
    const AssemblyEntry entry = v.entries[e];
    const Ijk q = moved(p, entry.offset);
    const bool inside = q.i >= 0 && q.i < front.nx && q.j >= 0 && q.j < front.ny && q.k >= 0 && q.k < front.nz;
    if (entry.source >= 0 && inside) {
      with_block(of_point, entry.source, entry.offset, [&](const auto& block) {
        for (int c = 0; c < b; ++c, first += stride) *first = block.at(row, c);
      });
    } else {
      for (int c = 0; c < b; ++c, first += stride) *first = 0;
    }
  }
}

/// A recipe whose stencil the compiler knows (`Recipe::Known`, one of static_plans).
template <class Recipe>
concept KnownRecipe = requires {
  Recipe::Known::plan;
};

/// One whose blocks are made whole on a GPU (assembly_blocks.cuh).
template <class Recipe>
concept WholeBlocks = KnownRecipe<Recipe> && requires {
  Recipe::keeps_rows;
};

/// One whose points are made whole on a GPU (assembly_points.cuh).
template <class Recipe>
concept WholePoints = KnownRecipe<Recipe> && requires {
  typename Recipe::template RowOf<true>;
};

template <class Recipe>
struct AssemblyKernels {
  void (*write)(int device, const AssemblyView& view, const Recipe& recipe);
};
/// Null without CUDA.
template <class Recipe>
const AssemblyKernels<Recipe>* assembly_kernels();

/// Throws Error(bad_argument) for sides or unknowns below 1.
void require_shape(const Grid& grid, int dof);

/// What a recipe points to on its device.
struct RecipeTables {
  std::vector<Array<double>> numbers;
  Array<Offset> offsets;
};

/// Rows of the same values at all points.
std::shared_ptr<const RowSource> constant_rows(const Grid& grid, const Stencil& stencil, const Array<double>& value,
                                               Device device);

namespace assembly {
std::vector<AssemblyEntry> entries_of(const TileOrder& order, const RowSource& rows);
/// Throws Error(structure) when the rows do not fit the order.
void require_fit(const TileOrder& order, const RowSource& rows);
[[noreturn]] void throw_no_cuda();
}  // namespace assembly

template <class Recipe>
class RecipeRows final : public RowSource {
 public:
  /// The recipe's pointers are to `tables`, and like them on the device.
  RecipeRows(Grid grid, Stencil stencil, int dof, Device device, const Recipe& recipe, RecipeTables tables)
      : RowSource(grid, std::move(stencil), dof, device), recipe_(recipe), tables_(std::move(tables)) {}

  bool lasting() const override { return true; }
  const char* work() const override { return "assembly"; }

  void write(const TileOrder& order, double* values) const override {
    assembly::require_fit(order, *this);
    const std::vector<AssemblyEntry> list = assembly::entries_of(order, *this);
    AssemblyView view{order.vector(),  list.data(), order.stencil().size(), dof(), order.host_tiles().longest(),
                      is_known(order), values};
    if (device().is_host()) return on_host(order, view);
    const auto* kernels = assembly_kernels<Recipe>();
    if (!kernels) assembly::throw_no_cuda();
    if (entries_.size() != static_cast<std::int64_t>(list.size())) {
      entries_ = Array<AssemblyEntry>(std::span<const AssemblyEntry>(list)).to(device());
    }
    view.entries = entries_.data();
    kernels->write(device().index, view, recipe_);
  }

 private:
  static bool is_known(const TileOrder& order) {
    if constexpr (KnownRecipe<Recipe>) return Recipe::Known::plan.matches(order.stencil().offsets());
    return false;
  }

  void on_host(const TileOrder& order, const AssemblyView& view) const {
    std::fill_n(view.values, order.matrix_scalars(), 0.0);
    for_each_point(grid(), Recipe::operations, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t) {
      const Ijk p{static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
      const echelon::Place place = order.matrix().place(p);
      for (int r = 0; r < dof(); ++r) {
        write_row(view, recipe_, p, r, view.values + place.at(0, r, 0), place.column_stride);
      }
    });
  }

  Recipe recipe_;
  RecipeTables tables_;
  mutable Array<AssemblyEntry> entries_;  // as last asked for; a stencil grows to more entries, never to as many others
};

}  // namespace echelon::problems
