// SPDX-License-Identifier: BSD-3-Clause
// Ranges of rows of a fixed-point sweep by one thread, for every SIMD target. The mathematics is in fixed_point_row.inl.
#include "echelon/factor/fixed_point/fixed_point.hpp"
#include "echelon/factor/fixed_point/fixed_point_row.inl"
#include "echelon/stencil/shapes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/fixed_point/fixed_point_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <bool start, class Distance, class T>
double sweep_scalars(const FixedPointView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work) {
  const FixedPointView<T> local = view;
  double sum = 0;
  for (std::int64_t i = begin; i < end; ++i) sum += fixed_point_scalar_row<start, Distance>(local, i, work);
  return sum;
}

template <bool start, int B, class T>
double sweep_blocks(const FixedPointView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work) {
  const FixedPointView<T> local = view;
  double sum = 0;
  for (std::int64_t i = begin; i < end; ++i) sum += fixed_point_block_row<start, B>(local, i, work);
  return sum;
}

template <class Distance, class T>
FactorBounds finish_scalars(const FactorView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>&) {
  const FactorView<T> local = view;
  FactorBounds bounds;
  for (std::int64_t i = begin; i < end; ++i) finish_scalar_row<Distance>(local, i, bounds);
  return bounds;
}

template <int B, class T>
FactorBounds finish_blocks(const FactorView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work) {
  const FactorView<T> local = view;
  for (std::int64_t i = begin; i < end; ++i) scale_lower_row<B>(local, i, work);
  FactorBounds none;
  none.finite = false;
  return none;
}

template <class Distance, class T>
FixedPointKernels<T> for_scalars() {
  return {sweep_scalars<true, Distance, T>, sweep_scalars<false, Distance, T>, finish_scalars<Distance, T>};
}

template <int B, class T>
FixedPointKernels<T> for_blocks() {
  return {sweep_blocks<true, B, T>, sweep_blocks<false, B, T>, finish_blocks<B, T>};
}

template <class T>
FixedPointKernels<T> choose_fixed_point(int block, bool narrow) {
  switch (block) {
    case 1: return narrow ? for_scalars<std::uint16_t, T>() : for_scalars<std::int32_t, T>();
    case 2: return for_blocks<2, T>();
    case 3: return for_blocks<3, T>();
    case 4: return for_blocks<4, T>();
    case 5: return for_blocks<5, T>();
    default: return for_blocks<0, T>();
  }
}

FixedPointKernels<double> choose_fixed_point_double(int block, bool narrow) {
  return choose_fixed_point<double>(block, narrow);
}
FixedPointKernels<float> choose_fixed_point_float(int block, bool narrow) {
  return choose_fixed_point<float>(block, narrow);
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(choose_fixed_point_double);
HWY_EXPORT(choose_fixed_point_float);

template <>
FixedPointKernels<double> fixed_point_kernels<double>(int block, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_fixed_point_double)(block, narrow);
}
template <>
FixedPointKernels<float> fixed_point_kernels<float>(int block, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_fixed_point_float)(block, narrow);
}

std::string fixed_point_kernel_name(int block, bool narrow) {
  constexpr int largest_of_its_own = 5;  // of the choice above
  return "fixed-point sweeps, " + shapes::kernel_name(block, largest_of_its_own) +
         (block == 1 && narrow ? ", 16-bit distances" : "");
}

}  // namespace echelon
#endif
