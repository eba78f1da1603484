// SPDX-License-Identifier: BSD-3-Clause
// Block elimination, b = 6.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/struct_factor_block_6.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/factor/struct_factor_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

StructFactorKernel<double> factor_6_double() { return block_factor<6, double>(); }
StructFactorKernel<float> factor_6_float() { return block_factor<6, float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_6_double);
HWY_EXPORT(factor_6_float);

template <>
StructFactorKernel<double> struct_factor_of<6, double>() {
  return HWY_DYNAMIC_DISPATCH(factor_6_double)();
}
template <>
StructFactorKernel<float> struct_factor_of<6, float>() {
  return HWY_DYNAMIC_DISPATCH(factor_6_float)();
}

}  // namespace echelon
#endif
