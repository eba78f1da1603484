// SPDX-License-Identifier: BSD-3-Clause
// Block elimination, b = 2.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/struct_factor_block_2.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/factor/struct_factor_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

StructFactorKernel<double> factor_2_double() { return block_factor<2, double>(); }
StructFactorKernel<float> factor_2_float() { return block_factor<2, float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_2_double);
HWY_EXPORT(factor_2_float);

template <>
StructFactorKernel<double> struct_factor_of<2, double>() {
  return HWY_DYNAMIC_DISPATCH(factor_2_double)();
}
template <>
StructFactorKernel<float> struct_factor_of<2, float>() {
  return HWY_DYNAMIC_DISPATCH(factor_2_float)();
}

}  // namespace echelon
#endif
