// SPDX-License-Identifier: BSD-3-Clause
// Block sweeps, b = 8.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/struct_sweep_block_8.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/sweep/struct_sweep_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

StructSweepKernels<double> sweep_8_double(Stored stored) { return block_sweep<8, double>(stored); }
StructSweepKernels<float> sweep_8_float(Stored stored) { return block_sweep<8, float>(stored); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(sweep_8_double);
HWY_EXPORT(sweep_8_float);

template <>
StructSweepKernels<double> struct_sweep_of<8, double>(Stored stored) {
  return HWY_DYNAMIC_DISPATCH(sweep_8_double)(stored);
}
template <>
StructSweepKernels<float> struct_sweep_of<8, float>(Stored stored) {
  return HWY_DYNAMIC_DISPATCH(sweep_8_float)(stored);
}

}  // namespace echelon
#endif
