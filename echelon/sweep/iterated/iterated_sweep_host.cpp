// SPDX-License-Identifier: BSD-3-Clause
// Traversal of a range of rows by one thread, for every SIMD target. The mathematics is in iterated_row.inl.
#include "echelon/sweep/iterated/iterated_sweep.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/iterated/iterated_sweep_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <bool lower, int B, class T>
void first_range(const IterationView<T>& view, std::int64_t begin, std::int64_t end, T* scratch) {
  const IterationView<T> local = view;
  for (std::int64_t s = begin; s < end; ++s) first_row<lower, B>(local, s, scratch);
}

template <IterationKind kind, bool lower, int B, class Distance, class T>
void iterated_range(const IterationView<T>& view, std::int64_t begin, std::int64_t end, T* scratch) {
  const IterationView<T> local = view;
  for (std::int64_t s = begin; s < end; ++s) iterated_row<kind, lower, B, Distance>(local, s, scratch);
}

template <bool lower, int B, class Distance, class T>
void block_range(const IterationView<T>& view, std::int64_t begin, std::int64_t end, T* scratch) {
  const IterationView<T> local = view;
  for (std::int64_t s = begin; s < end; ++s) block_row<lower, B, Distance>(local, s, scratch);
}

template <bool lower, int B, class Distance, class T>
IterationKernels<T> all_kinds() {
  return {first_range<lower, B, T>, iterated_range<IterationKind::compact, lower, B, Distance, T>,
          iterated_range<IterationKind::noncompact, lower, B, Distance, T>,
          iterated_range<IterationKind::neumann, lower, B, Distance, T>, block_range<lower, B, Distance, T>};
}

template <bool lower, class T>
IterationKernels<T> choose_block(int block, bool narrow) {
  using Wide = std::int32_t;
  switch (block) {
    case 1: return narrow ? all_kinds<lower, 1, std::uint16_t, T>() : all_kinds<lower, 1, Wide, T>();
    case 2: return all_kinds<lower, 2, Wide, T>();
    case 3: return all_kinds<lower, 3, Wide, T>();
    case 4: return all_kinds<lower, 4, Wide, T>();
    default: return all_kinds<lower, 0, Wide, T>();
  }
}

IterationKernels<double> choose_iteration_double(int block, bool narrow, bool lower) {
  return lower ? choose_block<true, double>(block, narrow) : choose_block<false, double>(block, narrow);
}
IterationKernels<float> choose_iteration_float(int block, bool narrow, bool lower) {
  return lower ? choose_block<true, float>(block, narrow) : choose_block<false, float>(block, narrow);
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(choose_iteration_double);
HWY_EXPORT(choose_iteration_float);

template <>
IterationKernels<double> iteration_kernels<double>(int block, bool narrow, bool lower) {
  return HWY_DYNAMIC_DISPATCH(choose_iteration_double)(block, narrow, lower);
}
template <>
IterationKernels<float> iteration_kernels<float>(int block, bool narrow, bool lower) {
  return HWY_DYNAMIC_DISPATCH(choose_iteration_float)(block, narrow, lower);
}

}  // namespace echelon
#endif
