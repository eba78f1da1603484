// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of blocks for b = ECHELON_BLOCK, which the file that includes this one defines: a file a size, since each takes
// long to compile.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/grid/struct_sweep_block_size.inl"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/sweep/grid/struct_sweep_block.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

// Static: every size has functions of these names.
static StructSweepKernels<double> sweep_of_doubles(Stored stored) { return block_sweep<ECHELON_BLOCK, double>(stored); }
static StructSweepKernels<float> sweep_of_floats(Stored stored) { return block_sweep<ECHELON_BLOCK, float>(stored); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(sweep_of_doubles);
HWY_EXPORT(sweep_of_floats);

template <>
StructSweepKernels<double> struct_sweep_of<ECHELON_BLOCK, double>(Stored stored) {
  return HWY_DYNAMIC_DISPATCH(sweep_of_doubles)(stored);
}
template <>
StructSweepKernels<float> struct_sweep_of<ECHELON_BLOCK, float>(Stored stored) {
  return HWY_DYNAMIC_DISPATCH(sweep_of_floats)(stored);
}

}  // namespace echelon
#endif
