// SPDX-License-Identifier: BSD-3-Clause
// Block sweeps, b = 5.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/struct_sweep_block_5.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/sweep/struct_sweep_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

StructSweepKernels<double> sweep_5_double(Stored stored) { return block_sweep<5, double>(stored); }
StructSweepKernels<float> sweep_5_float(Stored stored) { return block_sweep<5, float>(stored); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(sweep_5_double);
HWY_EXPORT(sweep_5_float);

template <>
StructSweepKernels<double> struct_sweep_of<5, double>(Stored stored) {
  return HWY_DYNAMIC_DISPATCH(sweep_5_double)(stored);
}
template <>
StructSweepKernels<float> struct_sweep_of<5, float>(Stored stored) {
  return HWY_DYNAMIC_DISPATCH(sweep_5_float)(stored);
}

}  // namespace echelon
#endif
