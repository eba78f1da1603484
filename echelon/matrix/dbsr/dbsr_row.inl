// SPDX-License-Identifier: BSD-3-Clause
// A block row of diagonals times x, lanes over rows, once for each target (include it inside a foreach_target file, after
// highway.h): sum ± Σ_e values[e]·x[first column of e …], one chain of fma a lane, ascending or descending in e. No gathers:
// loads at blk_ind·bsize + blk_offset. Where the CPU has no fused multiply-add, lane by lane: the same bits.
#include <hwy/highway.h>

#include "echelon/base/fma.hpp"
#include "echelon/base/simd.inl"
#include "echelon/matrix/dbsr/dbsr_view.hpp"

#if defined(ECHELON_MATRIX_DBSR_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_MATRIX_DBSR_ROW_INL
#undef ECHELON_MATRIX_DBSR_ROW_INL
#else
#define ECHELON_MATRIX_DBSR_ROW_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

/// s ± row `row` of the triangle times x, for the lanes that x and the triangle's values begin with: of a block row of B
/// lanes a register after the other, each walking the row's indices, which then are in the first-level cache. `onwards`: the
/// next rows are the ones behind it in memory, whichever way its entries are walked.
template <int B, bool ascending, bool negate, class S, bool onwards = ascending, class D, class V>
HWY_INLINE V block_row(D d, const DbsrTriangleView& t, std::int64_t row, std::int64_t lane, const hn::TFromD<D>* x, V s) {
  const std::int64_t begin = t.blk_ptr[row], end = t.blk_ptr[row + 1];
  const S* values = static_cast<const S*>(t.values);
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t e = ascending ? n : begin + end - 1 - n;
    const std::int64_t at = std::int64_t{t.blk_ind[e]} * B + (B > 1 ? t.blk_offset[e] : 0);
    const S* a = values + e * B + lane;
    if constexpr (B * sizeof(S) >= 32) {
      __builtin_prefetch(reinterpret_cast<const char*>(a) + (onwards ? dbsr_ahead : -dbsr_ahead), 0, 2);
    }
    s = fused<negate>(d, load_as(d, a), hn::LoadU(d, x + at + lane), s);
  }
  return s;
}

/// The same for two registers side by side, which share the walk and read whole lines of memory.
template <int B, bool ascending, bool negate, class S, bool onwards = ascending, class D, class V>
HWY_INLINE void block_row_of_two(D d, const DbsrTriangleView& t, std::int64_t row, std::int64_t lane, const hn::TFromD<D>* x,
                                 V& s0, V& s1) {
  const std::int64_t begin = t.blk_ptr[row], end = t.blk_ptr[row + 1];
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const S* values = static_cast<const S*>(t.values);
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t e = ascending ? n : begin + end - 1 - n;
    const std::int64_t at = std::int64_t{t.blk_ind[e]} * B + (B > 1 ? t.blk_offset[e] : 0) + lane;
    const S* a = values + e * B + lane;
    const char* soon = reinterpret_cast<const char*>(a) + (onwards ? dbsr_ahead : -dbsr_ahead);
    __builtin_prefetch(soon, 0, 2);
    if constexpr (B * sizeof(S) >= 128) __builtin_prefetch(soon + 64, 0, 2);
    s0 = fused<negate>(d, load_as(d, a), hn::LoadU(d, x + at), s0);
    s1 = fused<negate>(d, load_as(d, a + lanes), hn::LoadU(d, x + at + lanes), s1);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
