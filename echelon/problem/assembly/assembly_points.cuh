// SPDX-License-Identifier: BSD-3-Clause
// Assembly of blocks of two on the recipe's own stencil: a thread makes all blocks of a point, whose samples it reads once,
// with every offset, row and column known to the compiler, and writes the two rows of a column as 16 bytes: what the lines
// of a level write side by side is contiguous. Points far from the boundary have code that asks for no neighbour whether it
// is there. Bytes a point: 32 for each entry, written once; samples of the neighbours through the caches.
#pragma once

#include <type_traits>
#include <utility>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/matrix/grid_gpu/tile_walk.cuh"
#include "echelon/problem/assembly/assembly.hpp"

namespace echelon::problems {

/// Blocks of threads that are resident on a multiprocessor: few, with all its registers. A point needs many numbers, and
/// what goes to memory for want of registers costs more than more threads hide.
constexpr int points_resident = 1;

/// All blocks of a point; the first column begins at `to`, the next ones `stride` values behind one another. What is written
/// leaves the caches first.
template <class Recipe, bool Interior>
__device__ __forceinline__ void write_point(const AssemblyView& v, const Recipe& recipe, Ijk p, double* to,
                                            std::int64_t stride) {
  static_assert(Recipe::unknowns == 2);
  const Wavefront& front = v.vector.front;
  const auto first = recipe.template row_of<Interior>(p, 0), second = recipe.template row_of<Interior>(p, 1);
  const auto write = [&]<int e>(std::integral_constant<int, e>) {
    constexpr Offset o = Recipe::Known::plan.offset[e];
    const Ijk q = moved(p, o);
    const bool inside = Interior || ((o.x < 0 ? q.i >= 0 : q.i < front.nx) && (o.y < 0 ? q.j >= 0 : q.j < front.ny) &&
                                     (o.z < 0 ? q.k >= 0 : q.k < front.nz));
    double2 left{0, 0}, right{0, 0};
    if (inside) {
      left = {first.value(o, true), second.value(o, false)};
      right = {first.value(o, false), second.value(o, true)};
    }
    __stcs(reinterpret_cast<double2*>(to), left);
    __stcs(reinterpret_cast<double2*>(to + stride), right);
    to += 2 * stride;
  };
  [&]<int... e>(std::integer_sequence<int, e...>) { (write(std::integral_constant<int, e>{}), ...); }
  (std::make_integer_sequence<int, Recipe::Known::plan.entries>{});
}

template <class Recipe>
__global__ void __launch_bounds__(TileWalk::threads, points_resident)
    point_assembly_kernel(const __grid_constant__ AssemblyView v, const __grid_constant__ Recipe recipe) {
  extern __shared__ int walk_memory[];
  constexpr unsigned b = Recipe::unknowns, columns = Recipe::Known::plan.entries * b;
  walk_tiles(
      v.vector, 1, walk_memory,
      [&](Ijk p, int, const TileRun& run, unsigned rank) {
        const bool interior = recipe.is_interior(p);
        double* const to = v.values + run.start * columns + rank * b;
        if (interior) {
          write_point<Recipe, true>(v, recipe, p, to, run.length);
        } else {
          write_point<Recipe, false>(v, recipe, p, to, run.length);
        }
      },
      [&](const TileRun& run) { clear_padding(v.values, run.start * columns, run.length, run.used * b, columns); });
}

template <class Recipe>
void write_points(const AssemblyView& view, const Recipe& recipe) {
  point_assembly_kernel<Recipe>
      <<<TileWalk::blocks(view.vector, view.longest), TileWalk::threads, TileWalk::shared_bytes(view.vector)>>>(view,
                                                                                                                recipe);
  check_cuda(cudaGetLastError(), "assembly of points");
}

}  // namespace echelon::problems
