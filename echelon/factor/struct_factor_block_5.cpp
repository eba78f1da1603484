// SPDX-License-Identifier: BSD-3-Clause
// Block elimination, b = 5.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/struct_factor_block_5.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/factor/struct_factor_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

StructFactorKernel<double> factor_5_double() { return block_factor<5, double>(); }
StructFactorKernel<float> factor_5_float() { return block_factor<5, float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_5_double);
HWY_EXPORT(factor_5_float);

template <>
StructFactorKernel<double> struct_factor_of<5, double>() {
  return HWY_DYNAMIC_DISPATCH(factor_5_double)();
}
template <>
StructFactorKernel<float> struct_factor_of<5, float>() {
  return HWY_DYNAMIC_DISPATCH(factor_5_float)();
}

}  // namespace echelon
#endif
