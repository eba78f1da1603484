// SPDX-License-Identifier: BSD-3-Clause
// Elimination of blocks for b = ECHELON_BLOCK, which the file that includes this one defines: a file a size, since each
// takes long to compile.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/grid/struct_factor_block_size.inl"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/factor/grid/struct_factor_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

// Static: every size has functions of these names.
static StructFactorKernel<double> factor_of_doubles() { return block_factor<ECHELON_BLOCK, double>(); }
static StructFactorKernel<float> factor_of_floats() { return block_factor<ECHELON_BLOCK, float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(factor_of_doubles);
HWY_EXPORT(factor_of_floats);

template <>
StructFactorKernel<double> struct_factor_of<ECHELON_BLOCK, double>() {
  return HWY_DYNAMIC_DISPATCH(factor_of_doubles)();
}
template <>
StructFactorKernel<float> struct_factor_of<ECHELON_BLOCK, float>() {
  return HWY_DYNAMIC_DISPATCH(factor_of_floats)();
}

}  // namespace echelon
#endif
