// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of a stencil point by point, as the formula has it, for every block size: the reference of the faster kernels.
// Coefficients are stored as the vectors are. Bytes a point: 8 b² an entry, and D⁻¹.
#include "echelon/factor/grid/struct_factor_points.inl"
#include "echelon/stencil/shapes.hpp"
#include "echelon/sweep/grid/struct_sweep.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/grid/struct_sweep_points.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr LineGroups::Shape sweep_point_shape{1, 16};

template <bool lower, int B, class T>
ECHELON_FN void sweep_point(const StructTriangle& t, const GridPoint& p, const SweepVectors<T>& v, T* scratch) {
  const int b = extent<B>(t.block), bb = b * b;
  const auto* inverse = static_cast<const T*>(t.inverse_diagonal);
  T* sum = scratch;
  T* L = scratch + b;
  const std::int64_t point = neighbour(t.grid, p, {});
  for (int c = 0; c < b; ++c) sum[c] = v.r[point * b + c];
  for (const TriangleEntry& e : t.entries) {
    if (!has_neighbour(t.grid, p, e.offset)) continue;
    const std::int64_t k = neighbour(t.grid, p, e.offset);
    const T* block = static_cast<const T*>(e.values) + point * bb;
    if (lower && t.scaled) {
      block_product<B>(b, block, inverse + k * bb, L);
      block = L;
    }
    subtract_product<B>(b, block, v.x + k * b, sum);
  }
  if (lower) {
    for (int c = 0; c < b; ++c) v.x[point * b + c] = sum[c];
  } else {
    product<B>(b, inverse + point * bb, sum, v.x + point * b);
  }
}

template <bool lower, int B, class T>
void sweep_points(const StructTriangle& t, const LineWork& work, const SweepVectors<T>& v, void* scratch) {
  const Grid& g = t.grid;
  const std::int64_t end = std::min<std::int64_t>(work.end * sweep_point_shape.width, g.nx);
  for (std::int64_t n = work.begin * sweep_point_shape.width; n < end; ++n) {
    const GridPoint p =
        lower ? GridPoint{n, work.line, work.plane} : GridPoint{g.nx - 1 - n, g.ny - 1 - work.line, g.nz - 1 - work.plane};
    sweep_point<lower, B>(t, p, v, static_cast<T*>(scratch));
  }
}

template <class T>
using StructSweepTable = std::array<StructSweepKernels<T>, shapes::largest_block + 1>;

template <class T>
StructSweepTable<T> sweep_points_table() {
  return shapes::table<StructSweepKernels<T>>([]<int B>() {
    return StructSweepKernels<T>{&sweep_points<true, B, T>, &sweep_points<false, B, T>, sweep_point_shape};
  });
}

StructSweepTable<double> sweep_points_double() { return sweep_points_table<double>(); }
StructSweepTable<float> sweep_points_float() { return sweep_points_table<float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(sweep_points_double);
HWY_EXPORT(sweep_points_float);

template <>
StructSweepKernels<double> point_struct_sweep<double>(int block) {
  static const auto table = HWY_DYNAMIC_DISPATCH(sweep_points_double)();
  return table[shapes::specialised(block) ? block : 0];
}

template <>
StructSweepKernels<float> point_struct_sweep<float>(int block) {
  static const auto table = HWY_DYNAMIC_DISPATCH(sweep_points_float)();
  return table[shapes::specialised(block) ? block : 0];
}

}  // namespace echelon
#endif
