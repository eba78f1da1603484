// SPDX-License-Identifier: BSD-3-Clause
// Traversal of a range of rows by one thread, for every SIMD target. The mathematics is in ilu_row.inl.
#include "echelon/factor/rows/ilu_numeric.hpp"
#include "echelon/factor/rows/ilu_row.inl"
#include "echelon/stencil/shapes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/rows/ilu_numeric_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <class Distance, class T>
void factor_scalar_range(const FactorView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work) {
  // A copy: the compiler then knows that stores to the factors leave the pointers alone.
  const FactorView<T> local = view;
  for (std::int64_t i = begin; i < end; ++i) factor_scalar_row<Distance>(local, i, work);
}

template <int B, class T>
void factor_block_range(const FactorView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work) {
  const FactorView<T> local = view;
  for (std::int64_t i = begin; i < end; ++i) factor_block_row<B>(local, i, work);
}

template <class T>
FactorRange<T> choose_factor(int block, bool narrow) {
  switch (block) {
    case 1: return narrow ? factor_scalar_range<std::uint16_t, T> : factor_scalar_range<std::int32_t, T>;
    case 2: return factor_block_range<2, T>;
    case 3: return factor_block_range<3, T>;
    case 4: return factor_block_range<4, T>;
    case 5: return factor_block_range<5, T>;
    case 6: return factor_block_range<6, T>;
    case 7: return factor_block_range<7, T>;
    case 8: return factor_block_range<8, T>;
    default: return factor_block_range<0, T>;
  }
}

FactorRange<double> choose_factor_double(int block, bool narrow) { return choose_factor<double>(block, narrow); }
FactorRange<float> choose_factor_float(int block, bool narrow) { return choose_factor<float>(block, narrow); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(choose_factor_double);
HWY_EXPORT(choose_factor_float);

template <>
FactorRange<double> factor_kernel<double>(int block, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_factor_double)(block, narrow);
}
template <>
FactorRange<float> factor_kernel<float>(int block, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_factor_float)(block, narrow);
}

std::string factor_kernel_name(int block, bool narrow) {
  return "rows, " + shapes::kernel_name(block) + (block == 1 && narrow ? ", 16-bit distances" : "");
}

}  // namespace echelon
#endif
