// SPDX-License-Identifier: BSD-3-Clause
// Block elimination, b = 8.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/struct_factor_block_8.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/factor/struct_factor_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

StructFactorKernel<double> factor_8_double() { return block_factor<8, double>(); }
StructFactorKernel<float> factor_8_float() { return block_factor<8, float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_8_double);
HWY_EXPORT(factor_8_float);

template <>
StructFactorKernel<double> struct_factor_of<8, double>() {
  return HWY_DYNAMIC_DISPATCH(factor_8_double)();
}
template <>
StructFactorKernel<float> struct_factor_of<8, float>() {
  return HWY_DYNAMIC_DISPATCH(factor_8_float)();
}

}  // namespace echelon
#endif
