// SPDX-License-Identifier: BSD-3-Clause
// Traversal only: the points of a group of lines in natural order, compiled for each SIMD target and block size.
#include "echelon/factor/grid/struct_factor_points.inl"
#include "echelon/stencil/shapes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/grid/struct_factor_points.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr LineGroups::Shape factor_point_shape{1, 16};

template <int B, class T>
void factor_points(const StructFactorView<T>& view, const LineWork& work, StructFactorWorkspace<T>& own) {
  const std::int64_t end = std::min<std::int64_t>(work.end * factor_point_shape.width, view.grid.nx);
  for (std::int64_t i = work.begin * factor_point_shape.width; i < end; ++i) {
    factor_point<B>(view, {i, work.line, work.plane}, own);
  }
}

template <class T>
using StructFactorTable = std::array<StructFactorKernel<T>, shapes::largest_block + 1>;

template <class T>
StructFactorTable<T> factor_points_table() {
  return shapes::table<StructFactorKernel<T>>([]<int B>() {
    return StructFactorKernel<T>{&factor_points<B, T>, factor_point_shape, false};
  });
}

StructFactorTable<double> factor_points_double() { return factor_points_table<double>(); }
StructFactorTable<float> factor_points_float() { return factor_points_table<float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_points_double);
HWY_EXPORT(factor_points_float);

template <>
StructFactorKernel<double> point_struct_factor<double>(int block) {
  static const auto table = HWY_DYNAMIC_DISPATCH(factor_points_double)();
  return table[shapes::specialised(block) ? block : 0];
}

template <>
StructFactorKernel<float> point_struct_factor<float>(int block) {
  static const auto table = HWY_DYNAMIC_DISPATCH(factor_points_float)();
  return table[shapes::specialised(block) ? block : 0];
}

}  // namespace echelon
#endif
