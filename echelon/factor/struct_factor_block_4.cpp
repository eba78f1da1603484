// SPDX-License-Identifier: BSD-3-Clause
// Block elimination, b = 4.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/struct_factor_block_4.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/factor/struct_factor_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

StructFactorKernel<double> factor_4_double() { return block_factor<4, double>(); }
StructFactorKernel<float> factor_4_float() { return block_factor<4, float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_4_double);
HWY_EXPORT(factor_4_float);

template <>
StructFactorKernel<double> struct_factor_of<4, double>() {
  return HWY_DYNAMIC_DISPATCH(factor_4_double)();
}
template <>
StructFactorKernel<float> struct_factor_of<4, float>() {
  return HWY_DYNAMIC_DISPATCH(factor_4_float)();
}

}  // namespace echelon
#endif
