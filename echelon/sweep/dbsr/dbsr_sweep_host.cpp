// SPDX-License-Identifier: BSD-3-Clause
// Sweeps in diagonal block rows, compiled once an instruction set. A block row's sums stay in registers; the row before it
// in the group comes last in the chain, so that only the chain's end waits for it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/dbsr/dbsr_sweep_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/matrix/dbsr/dbsr_row.inl"
#include "echelon/sweep/dbsr/dbsr_sweep.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

enum class Kind { lower, upper, forward_zero, forward_guess, residual };

/// What the chain begins with, for the lanes from position `own` on.
template <Kind kind, class D, class T>
HWY_INLINE hn::Vec<D> begin_sum(D d, const DbsrSweepView<T>& view, std::int64_t own) {
  const auto r = hn::LoadU(d, view.r + own);
  if constexpr (kind == Kind::residual) return hn::Sub(r, hn::LoadU(d, view.w + own));
  return r;
}

template <Kind kind, class S, class D, class T, class V>
HWY_INLINE void store_sum(D d, const DbsrSweepView<T>& view, std::int64_t own, V sum) {
  if constexpr (kind == Kind::upper || kind == Kind::forward_zero || kind == Kind::forward_guess) {
    sum = hn::Mul(sum, load_as(d, static_cast<const S*>(view.inverse) + own));
  }
  hn::StoreU(sum, d, (kind == Kind::residual ? view.w : view.x) + own);
}

template <Kind kind, int B, class S, class T>
HWY_INLINE void sweep_block_row(const DbsrSweepView<T>& view, std::int64_t row) {
  const hn::CappedTag<T, B> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr bool keeps_w = kind == Kind::forward_zero || kind == Kind::forward_guess, upwards = kind != Kind::upper;
  const DbsrTriangleView& first = upwards ? view.lower : view.upper;
  std::int64_t lane = 0;
  for (; lane + 2 * lanes <= B; lane += 2 * lanes) {
    const std::int64_t own = row * B + lane, next = own + lanes;
    auto s0 = begin_sum<kind>(d, view, own), s1 = begin_sum<kind>(d, view, next);
    block_row_of_two<B, upwards, true, S>(d, first, row, lane, view.x, s0, s1);
    if constexpr (keeps_w) hn::StoreU(s0, d, view.w + own), hn::StoreU(s1, d, view.w + next);
    if constexpr (kind == Kind::forward_guess)
      block_row_of_two<B, false, true, S, true>(d, view.upper, row, lane, view.x, s0, s1);
    store_sum<kind, S>(d, view, own, s0);
    store_sum<kind, S>(d, view, next, s1);
  }
  for (; lane < B; lane += lanes) {
    const std::int64_t own = row * B + lane;
    auto sum = block_row<B, upwards, true, S>(d, first, row, lane, view.x, begin_sum<kind>(d, view, own));
    if constexpr (keeps_w) hn::StoreU(sum, d, view.w + own);
    if constexpr (kind == Kind::forward_guess)
      sum = block_row<B, false, true, S, true>(d, view.upper, row, lane, view.x, sum);
    store_sum<kind, S>(d, view, own, sum);
  }
}

template <Kind kind, int B, class S, class T>
void sweep_rows(const DbsrSweepView<T>& view, std::int64_t begin, std::int64_t end) {
  // A copy: the compiler then knows that stores to x leave the pointers alone.
  const DbsrSweepView<T> local = view;
  if constexpr (kind == Kind::upper) {
    for (std::int64_t row = end - 1; row >= begin; --row) sweep_block_row<kind, B, S>(local, row);
  } else {
    for (std::int64_t row = begin; row < end; ++row) sweep_block_row<kind, B, S>(local, row);
  }
}

template <int B, class S, class T>
DbsrSweepKernels<T> kernels_of() {
  DbsrSweepKernels<T> all{sweep_rows<Kind::lower, B, S, T>, sweep_rows<Kind::upper, B, S, T>};
  if constexpr (sizeof(S) == sizeof(T)) {
    all.forward_zero = sweep_rows<Kind::forward_zero, B, S, T>;
    all.forward_guess = sweep_rows<Kind::forward_guess, B, S, T>;
    all.residual = sweep_rows<Kind::residual, B, S, T>;
  }
  return all;
}

template <class S, class T>
DbsrSweepKernels<T> kernels_by_bsize(int bsize) {
  switch (bsize) {
    case 1: return kernels_of<1, S, T>();
    case 2: return kernels_of<2, S, T>();
    case 4: return kernels_of<4, S, T>();
    case 8: return kernels_of<8, S, T>();
    case 16: return kernels_of<16, S, T>();
    case 32: return kernels_of<32, S, T>();
    case 64: return kernels_of<64, S, T>();
    default: return {};
  }
}

DbsrSweepKernels<double> kernels_of_doubles(int bsize, Stored stored) {
  if (stored == Stored::fp64) return kernels_by_bsize<double, double>(bsize);
  if (stored == Stored::fp32) return kernels_by_bsize<float, double>(bsize);
  return {};
}
DbsrSweepKernels<float> kernels_of_floats(int bsize, Stored stored) {
  if (stored == Stored::fp32) return kernels_by_bsize<float, float>(bsize);
  return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(kernels_of_doubles);
HWY_EXPORT(kernels_of_floats);

template <>
DbsrSweepKernels<double> dbsr_sweep_kernels<double>(int bsize, Stored stored) {
  return HWY_DYNAMIC_DISPATCH(kernels_of_doubles)(bsize, stored);
}
template <>
DbsrSweepKernels<float> dbsr_sweep_kernels<float>(int bsize, Stored stored) {
  return HWY_DYNAMIC_DISPATCH(kernels_of_floats)(bsize, stored);
}

}  // namespace echelon
#endif
