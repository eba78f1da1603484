// SPDX-License-Identifier: BSD-3-Clause
// Traversal only: all grid points in natural order (U⁻¹: backwards), one thread, compiled for each SIMD target.
#include "echelon/factor/struct_ilu0.hpp"
#include "echelon/factor/struct_ilu0_row.inl"
#include "echelon/matrix/shapes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/struct_ilu0_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <int B, class T>
void factor_points(const StructFactors<T>& F, const T* A, const PivotRules& rules, StructWorkspace<T>& work) {
  const Grid& g = F.plan.grid;
  for (std::int64_t k = 0; k < g.nz; ++k) {
    for (std::int64_t j = 0; j < g.ny; ++j) {
      for (std::int64_t i = 0; i < g.nx; ++i) factor_point<B>(F, A, {i, j, k}, rules, work);
    }
  }
}

template <int B, class T>
void sweep_lower_points(const StructFactors<T>& F, const T* r, T* y, T* sum) {
  const Grid& g = F.plan.grid;
  for (std::int64_t k = 0; k < g.nz; ++k) {
    for (std::int64_t j = 0; j < g.ny; ++j) {
      for (std::int64_t i = 0; i < g.nx; ++i) sweep_point<B, true>(F, {i, j, k}, r, y, sum);
    }
  }
}

template <int B, class T>
void sweep_upper_points(const StructFactors<T>& F, const T* y, T* z, T* sum) {
  const Grid& g = F.plan.grid;
  for (std::int64_t k = g.nz; k-- > 0;) {
    for (std::int64_t j = g.ny; j-- > 0;) {
      for (std::int64_t i = g.nx; i-- > 0;) sweep_point<B, false>(F, {i, j, k}, y, z, sum);
    }
  }
}

template <class T>
using StructIluTable = std::array<StructIluKernels<T>, shapes::largest_block + 1>;

template <class T>
StructIluTable<T> struct_ilu_table() {
  return shapes::table<StructIluKernels<T>>([]<int B>() {
    return StructIluKernels<T>{&factor_points<B, T>, &sweep_lower_points<B, T>, &sweep_upper_points<B, T>};
  });
}

StructIluTable<double> struct_ilu_double() { return struct_ilu_table<double>(); }
StructIluTable<float> struct_ilu_float() { return struct_ilu_table<float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(struct_ilu_double);
HWY_EXPORT(struct_ilu_float);

template <>
const StructIluKernels<double>& struct_ilu_kernels<double>(int block) {
  static const auto table = HWY_DYNAMIC_DISPATCH(struct_ilu_double)();
  return table[shapes::specialised(block) ? block : 0];
}

template <>
const StructIluKernels<float>& struct_ilu_kernels<float>(int block) {
  static const auto table = HWY_DYNAMIC_DISPATCH(struct_ilu_float)();
  return table[shapes::specialised(block) ? block : 0];
}

}  // namespace echelon
#endif
