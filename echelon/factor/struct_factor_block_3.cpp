// SPDX-License-Identifier: BSD-3-Clause
// Block elimination, b = 3.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/struct_factor_block_3.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/factor/struct_factor_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

StructFactorKernel<double> factor_3_double() { return block_factor<3, double>(); }
StructFactorKernel<float> factor_3_float() { return block_factor<3, float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_3_double);
HWY_EXPORT(factor_3_float);

template <>
StructFactorKernel<double> struct_factor_of<3, double>() {
  return HWY_DYNAMIC_DISPATCH(factor_3_double)();
}
template <>
StructFactorKernel<float> struct_factor_of<3, float>() {
  return HWY_DYNAMIC_DISPATCH(factor_3_float)();
}

}  // namespace echelon
#endif
