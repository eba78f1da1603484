// SPDX-License-Identifier: BSD-3-Clause
// Traversal of a range of rows by one thread, for every SIMD target. The mathematics is in ilut_row.inl; blocks are apart,
// in ilut_block_host.cpp.
#include "echelon/factor/ilut/ilut_row.inl"
#include "echelon/stencil/shapes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/ilut/ilut_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <bool pivoting, class T>
bool ilut_scalar_range(const IlutView<T>& view, std::int64_t begin, std::int64_t end, IlutWorkspace<T>& work) {
  // A copy: the compiler then knows that stores to the factors leave the pointers alone.
  const IlutView<T> local = view;
  for (std::int64_t i = begin; i < end; ++i) {
    if (!ilut_scalar_row<pivoting>(local, i, work)) return false;
  }
  return true;
}

IlutRange<double> choose_scalar_double(bool pivoting) {
  return pivoting ? ilut_scalar_range<true, double> : ilut_scalar_range<false, double>;
}
IlutRange<float> choose_scalar_float(bool pivoting) {
  return pivoting ? ilut_scalar_range<true, float> : ilut_scalar_range<false, float>;
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(choose_scalar_double);
HWY_EXPORT(choose_scalar_float);

template <>
IlutRange<double> ilut_kernel<double>(int block, bool pivoting) {
  return block == 1 ? HWY_DYNAMIC_DISPATCH(choose_scalar_double)(pivoting) : ilut_block_kernel<double>(block);
}
template <>
IlutRange<float> ilut_kernel<float>(int block, bool pivoting) {
  return block == 1 ? HWY_DYNAMIC_DISPATCH(choose_scalar_float)(pivoting) : ilut_block_kernel<float>(block);
}

std::string ilut_kernel_name(int block, bool pivoting) {
  constexpr int largest_of_its_own = 5;  // of ilut_block_host.cpp
  return (pivoting ? "rows with thresholds and pivoting, " : "rows with thresholds, ") +
         shapes::kernel_name(block, largest_of_its_own);
}

}  // namespace echelon
#endif
