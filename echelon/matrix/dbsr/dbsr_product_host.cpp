// SPDX-License-Identifier: BSD-3-Clause
// The product in diagonal block rows, compiled once an instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/matrix/dbsr/dbsr_product_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/matrix/dbsr/dbsr_product.hpp"
#include "echelon/matrix/dbsr/dbsr_row.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <int B, class T>
void multiply_rows(const DbsrView<T>& A, const T* x, T* y, std::int64_t begin, std::int64_t end) {
  const hn::CappedTag<T, B> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t row = begin; row < end; ++row) {
    std::int64_t lane = 0;
    for (; lane + 2 * lanes <= B; lane += 2 * lanes) {
      const std::int64_t own = row * B + lane, next = own + lanes;
      auto s0 = hn::Zero(d), s1 = hn::Zero(d);
      block_row_of_two<B, true, false, T>(d, A.lower, row, lane, x, s0, s1);
      s0 = fused<false>(d, hn::LoadU(d, A.diagonal + own), hn::LoadU(d, x + own), s0);
      s1 = fused<false>(d, hn::LoadU(d, A.diagonal + next), hn::LoadU(d, x + next), s1);
      block_row_of_two<B, true, false, T>(d, A.upper, row, lane, x, s0, s1);
      hn::StoreU(s0, d, y + own);
      hn::StoreU(s1, d, y + next);
    }
    for (; lane < B; lane += lanes) {
      const std::int64_t own = row * B + lane;
      auto sum = block_row<B, true, false, T>(d, A.lower, row, lane, x, hn::Zero(d));
      sum = fused<false>(d, hn::LoadU(d, A.diagonal + own), hn::LoadU(d, x + own), sum);
      sum = block_row<B, true, false, T>(d, A.upper, row, lane, x, sum);
      hn::StoreU(sum, d, y + own);
    }
  }
}

template <class T>
DbsrProduct<T> product_of(int bsize) {
  switch (bsize) {
    case 1: return multiply_rows<1, T>;
    case 2: return multiply_rows<2, T>;
    case 4: return multiply_rows<4, T>;
    case 8: return multiply_rows<8, T>;
    case 16: return multiply_rows<16, T>;
    case 32: return multiply_rows<32, T>;
    case 64: return multiply_rows<64, T>;
    default: return nullptr;
  }
}
DbsrProduct<double> product_of_doubles(int bsize) { return product_of<double>(bsize); }
DbsrProduct<float> product_of_floats(int bsize) { return product_of<float>(bsize); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(product_of_doubles);
HWY_EXPORT(product_of_floats);

template <>
DbsrProduct<double> dbsr_product<double>(int bsize) {
  return HWY_DYNAMIC_DISPATCH(product_of_doubles)(bsize);
}
template <>
DbsrProduct<float> dbsr_product<float>(int bsize) {
  return HWY_DYNAMIC_DISPATCH(product_of_floats)(bsize);
}

}  // namespace echelon
#endif
