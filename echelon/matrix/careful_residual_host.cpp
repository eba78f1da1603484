// SPDX-License-Identifier: BSD-3-Clause
// The kernels of careful_residual.hpp. The chain of sums is the only dependence, its errors are gathered beside it. Grids
// run by the lines of struct_lines.inl; block CSR, other block sizes and machines without fma one scalar row at a time.
// Bytes a row as in spmv_host.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/matrix/careful_residual_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/base/fma.hpp"
#include "echelon/matrix/careful_residual.hpp"
#include "echelon/matrix/doubled_sum.hpp"
#include "echelon/matrix/grid/struct_lines.inl"
#include "echelon/stencil/shapes.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <class T>
void careful_rows(const BlockCsrView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end) {
  const std::int64_t b = A.block;
  for (std::int64_t i = begin; i < end; ++i) {
    for (std::int64_t r = 0; r < b; ++r) {
      DoubledSum sum{static_cast<double>(v.b[i * b + r]), 0};
      for (std::int64_t e = A.row_start[i]; e < A.row_start[i + 1]; ++e) {
        for (std::int64_t c = 0; c < b; ++c) sum.subtract_product(A.values[(e * b + c) * b + r], v.x[A.column[e] * b + c]);
      }
      v.y[i * b + r] = static_cast<T>(sum.high + sum.low);
    }
  }
}

template <class T>
void careful_points(const StructView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end) {
  const std::int64_t b = A.block;
  const Grid& g = A.grid;
  for (std::int64_t point = begin; point < end; ++point) {
    const std::int64_t i = point % g.nx, j = point / g.nx % g.ny, k = point / g.nx / g.ny;
    for (std::int64_t r = 0; r < b; ++r) {
      DoubledSum sum{static_cast<double>(v.b[point * b + r]), 0};
      for (std::size_t e = 0; e < A.offsets.size(); ++e) {
        const Offset o = A.offsets[e];
        if (!g.contains(i + o.x, j + o.y, k + o.z)) continue;
        const T* block = A.values + (static_cast<std::int64_t>(e) * g.points() + point) * b * b + r;
        const T* x = v.x + g.index(i + o.x, j + o.y, k + o.z) * b;
        for (std::int64_t c = 0; c < b; ++c) sum.subtract_product(block[c * b], x[c]);
      }
      v.y[point * b + r] = static_cast<T>(sum.high + sum.low);
    }
  }
}

#if ECHELON_BLOCK_LANES
/// DoubledSum in lanes.
template <class D>
struct CarefulSum {
  static constexpr bool right_side = true;
  hn::Vec<D> high, low;
  HWY_INLINE void start(hn::Vec<D> right) {
    high = right;
    low = hn::Zero(D());
  }
  HWY_INLINE void add(hn::Vec<D> a, hn::Vec<D> x) {
    const auto product = hn::Mul(a, x);
    const auto product_error = hn::MulSub(a, x, product);
    const auto sum = hn::Sub(high, product);
    const auto taken = hn::Sub(sum, high);
    const auto lost = hn::Sub(hn::Sub(high, hn::Sub(sum, taken)), hn::Add(product, taken));
    low = hn::Add(low, hn::Sub(lost, product_error));
    high = sum;
  }
  HWY_INLINE hn::Vec<D> result(hn::Vec<D>) const { return hn::Add(high, low); }
};
#endif

template <int B, class T>
void careful_lines(const StructView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end) {
#if ECHELON_BLOCK_LANES
  if constexpr (B > 0) {
    if (A.offsets.size() <= most_line_entries) return matrix_lines<CarefulSum, double, B>(A, v, begin, end);
  }
#endif
  careful_points(A, v, begin, end);
}

template <class T>
CarefulKernels<T> careful_table() {
  return {careful_rows<T>, shapes::table<typename CarefulKernels<T>::Points>([]<int B>() { return &careful_lines<B, T>; })};
}

CarefulKernels<double> careful_double_kernels() { return careful_table<double>(); }
CarefulKernels<float> careful_float_kernels() { return careful_table<float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(careful_double_kernels);
HWY_EXPORT(careful_float_kernels);

template <>
const CarefulKernels<double>& careful_kernels<double>() {
  static const CarefulKernels<double> table = HWY_DYNAMIC_DISPATCH(careful_double_kernels)();
  return table;
}

template <>
const CarefulKernels<float>& careful_kernels<float>() {
  static const CarefulKernels<float> table = HWY_DYNAMIC_DISPATCH(careful_float_kernels)();
  return table;
}

}  // namespace echelon
#endif
