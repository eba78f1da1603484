// SPDX-License-Identifier: BSD-3-Clause
// Traversal of a range of rows by one thread, for every SIMD target. The mathematics is in row.inl and rows_together.inl.
#include "echelon/sweep/rows/triangular_sweep.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/rows/triangular_sweep_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <bool lower, int B, class Distance, class T>
void sweep_range(const SweepView<T>& view, std::int64_t begin, std::int64_t end, T* scratch) {
  // A copy: the compiler then knows that stores to x leave the pointers alone.
  const SweepView<T> local = view;
  for (std::int64_t s = begin; s < end; ++s) sweep_row<lower, B, Distance>(local, s, scratch);
}

template <bool lower, class Distance, class T>
void sweep_range_in_runs(const SweepView<T>& view, std::int64_t begin, std::int64_t end, T*) {
  const SweepView<T> local = view;
  sweep_range_together<lower, Distance>(local, begin, end);
}

template <class Distance, class T>
SweepKernels<T> both_in_runs() {
  return {sweep_range_in_runs<true, Distance, T>, sweep_range_in_runs<false, Distance, T>};
}

template <int B, class Distance, class T>
SweepKernels<T> both() {
  return {sweep_range<true, B, Distance, T>, sweep_range<false, B, Distance, T>};
}

template <class T>
SweepKernels<T> choose_sweep(int block, bool narrow) {
  using Wide = std::int32_t;
  switch (block) {
    case 1: return narrow ? both<1, std::uint16_t, T>() : both<1, Wide, T>();
    case 2: return both<2, Wide, T>();
    case 3: return both<3, Wide, T>();
    case 4: return both<4, Wide, T>();
    case 5: return both<5, Wide, T>();
    case 6: return both<6, Wide, T>();
    case 7: return both<7, Wide, T>();
    case 8: return both<8, Wide, T>();
    default: return both<0, Wide, T>();
  }
}

SweepKernels<double> choose_sweep_double(int block, bool narrow) { return choose_sweep<double>(block, narrow); }
SweepKernels<float> choose_sweep_float(int block, bool narrow) { return choose_sweep<float>(block, narrow); }
SweepKernels<double> choose_runs_double(bool narrow) {
  return narrow ? both_in_runs<std::uint16_t, double>() : both_in_runs<std::int32_t, double>();
}
SweepKernels<float> choose_runs_float(bool narrow) {
  return narrow ? both_in_runs<std::uint16_t, float>() : both_in_runs<std::int32_t, float>();
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(choose_sweep_double);
HWY_EXPORT(choose_sweep_float);
HWY_EXPORT(choose_runs_double);
HWY_EXPORT(choose_runs_float);

template <>
SweepKernels<double> sweep_kernels<double>(int block, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_sweep_double)(block, narrow);
}
template <>
SweepKernels<float> sweep_kernels<float>(int block, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_sweep_float)(block, narrow);
}
template <>
SweepKernels<double> sweep_kernels_together<double>(bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_runs_double)(narrow);
}
template <>
SweepKernels<float> sweep_kernels_together<float>(bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_runs_float)(narrow);
}

}  // namespace echelon
#endif
