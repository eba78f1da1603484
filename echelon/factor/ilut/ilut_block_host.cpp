// SPDX-License-Identifier: BSD-3-Clause
// Traversal of a range of block rows by one thread, for every SIMD target. The mathematics is in ilut_block_row.inl.
#include "echelon/factor/ilut/ilut_block_row.inl"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/ilut/ilut_block_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <int B, class T>
bool ilut_block_range(const IlutView<T>& view, std::int64_t begin, std::int64_t end, IlutWorkspace<T>& work) {
  const IlutView<T> local = view;
  for (std::int64_t i = begin; i < end; ++i) {
    if (!ilut_block_row<B>(local, i, work)) return false;
  }
  return true;
}

template <class T>
IlutRange<T> choose_blocks(int block) {
  switch (block) {
    case 2: return ilut_block_range<2, T>;
    case 3: return ilut_block_range<3, T>;
    case 4: return ilut_block_range<4, T>;
    case 5: return ilut_block_range<5, T>;
    default: return ilut_block_range<0, T>;
  }
}

IlutRange<double> choose_blocks_double(int block) { return choose_blocks<double>(block); }
IlutRange<float> choose_blocks_float(int block) { return choose_blocks<float>(block); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(choose_blocks_double);
HWY_EXPORT(choose_blocks_float);

template <>
IlutRange<double> ilut_block_kernel<double>(int block) {
  return HWY_DYNAMIC_DISPATCH(choose_blocks_double)(block);
}
template <>
IlutRange<float> ilut_block_kernel<float>(int block) {
  return HWY_DYNAMIC_DISPATCH(choose_blocks_float)(block);
}

}  // namespace echelon
#endif
