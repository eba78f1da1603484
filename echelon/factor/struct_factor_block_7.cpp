// SPDX-License-Identifier: BSD-3-Clause
// Block elimination, b = 7.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/struct_factor_block_7.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/factor/struct_factor_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

StructFactorKernel<double> factor_7_double() { return block_factor<7, double>(); }
StructFactorKernel<float> factor_7_float() { return block_factor<7, float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_7_double);
HWY_EXPORT(factor_7_float);

template <>
StructFactorKernel<double> struct_factor_of<7, double>() {
  return HWY_DYNAMIC_DISPATCH(factor_7_double)();
}
template <>
StructFactorKernel<float> struct_factor_of<7, float>() {
  return HWY_DYNAMIC_DISPATCH(factor_7_float)();
}

}  // namespace echelon
#endif
