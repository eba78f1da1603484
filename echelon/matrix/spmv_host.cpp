// SPDX-License-Identifier: BSD-3-Clause
// SpMV on the host, compiled once an instruction set. Block CSR moves b²·8 + 4 bytes a block and 16·b + 8 a row besides x;
// a structured line moves b²·8 bytes a block and no indices (struct_lines.inl). Blocks without a kernel of their own and
// machines without fma run entry by entry over a strip of y that stays in cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/matrix/spmv_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "echelon/base/small_block.hpp"
#include "echelon/matrix/grid/struct_lines.inl"
#include "echelon/matrix/spmv.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr std::int64_t strip_scalars = 1024;  // 8 KiB of y: with its x and values well inside the first-level cache

template <int B, class T>
void csr_rows(const BlockCsrView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end) {
  const std::int64_t b = extent<B>(A.block);
  for (std::int64_t i = begin; i < end; ++i) {
    T fixed[B > 0 ? B : 1];
    T* sum = B > 0 ? fixed : v.y + i * b;
    for (int r = 0; r < b; ++r) sum[r] = 0;
    for (std::int64_t e = A.row_start[i]; e < A.row_start[i + 1]; ++e) {
      add_product<B>(A.block, A.values + e * b * b, v.x + A.column[e] * b, sum);
    }
    if (v.b) {
      for (int r = 0; r < b; ++r) v.y[i * b + r] = v.b[i * b + r] - sum[r];
    } else if (B > 0) {
      for (int r = 0; r < b; ++r) v.y[i * b + r] = sum[r];
    }
  }
}

/// Points [begin, end) of one line along x, the line being (j, k): entry by entry, each over the points that have it.
template <int B, class T>
void struct_strip(const StructView<T>& A, const SpmvVectors<T>& v, std::int64_t line, std::int64_t begin, std::int64_t end) {
  const std::int64_t b = extent<B>(A.block);
  const Grid& g = A.grid;
  const std::int64_t j = line % g.ny, k = line / g.ny;
  T* HWY_RESTRICT y = v.y + (line * g.nx + begin) * b;
  const std::int64_t scalars = (end - begin) * b;
  for (std::int64_t s = 0; s < scalars; ++s) y[s] = 0;
  for (std::size_t e = 0; e < A.offsets.size(); ++e) {
    const Offset o = A.offsets[e];
    if (j + o.y < 0 || j + o.y >= g.ny || k + o.z < 0 || k + o.z >= g.nz) continue;
    const std::int64_t first = std::max<std::int64_t>(begin, -std::int64_t{o.x});
    const std::int64_t last = std::min<std::int64_t>(end, g.nx - o.x);
    if (first >= last) continue;
    const T* HWY_RESTRICT values = A.values + (static_cast<std::int64_t>(e) * g.points() + line * g.nx + first) * b * b;
    const T* HWY_RESTRICT x = v.x + g.index(first + o.x, j + o.y, k + o.z) * b;
    T* HWY_RESTRICT out = y + (first - begin) * b;
    for (std::int64_t i = 0; i < last - first; ++i) add_product<B>(A.block, values + i * b * b, x + i * b, out + i * b);
  }
  if (v.b) {
    const T* HWY_RESTRICT right = v.b + (line * g.nx + begin) * b;
    for (std::int64_t s = 0; s < scalars; ++s) y[s] = right[s] - y[s];
  }
}

#if ECHELON_BLOCK_LANES
/// A x
template <class D>
struct ProductSum {
  static constexpr bool right_side = false;
  hn::Vec<D> sum;
  HWY_INLINE void start(hn::Vec<D>) { sum = hn::Zero(D()); }
  HWY_INLINE void add(hn::Vec<D> a, hn::Vec<D> x) { sum = hn::MulAdd(a, x, sum); }
  HWY_INLINE hn::Vec<D> result(hn::Vec<D>) const { return sum; }
};

/// b − A x
template <class D>
struct ResidualSum : ProductSum<D> {
  static constexpr bool right_side = true;
  HWY_INLINE hn::Vec<D> result(hn::Vec<D> right) const { return hn::Sub(right, this->sum); }
};
#endif

template <int B, class T>
void struct_points(const StructView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end) {
#if ECHELON_BLOCK_LANES
  if constexpr (B > 0) {
    if (A.offsets.size() <= most_line_entries) {
      return v.b ? matrix_lines<ResidualSum, T, B>(A, v, begin, end) : matrix_lines<ProductSum, T, B>(A, v, begin, end);
    }
  }
#endif
  const std::int64_t strip = std::max<std::int64_t>(1, strip_scalars / A.block);
  const std::int64_t nx = A.grid.nx;
  while (begin < end) {
    const std::int64_t line = begin / nx;
    const std::int64_t stop = std::min({begin + strip, end, (line + 1) * nx});
    struct_strip<B>(A, v, line, begin - line * nx, stop - line * nx);
    begin = stop;
  }
}

#if ECHELON_BLOCK_LANES
/// Σ|a|; x is not looked at.
template <class D>
struct SizeSum : ProductSum<D> {
  HWY_INLINE void add(hn::Vec<D> a, hn::Vec<D>) { this->sum = hn::Add(this->sum, hn::Abs(a)); }
};
#endif

template <int B, class T>
void line_sizes(const StructView<T>& A, std::int64_t line, double* sums) {
  const Grid& g = A.grid;
#if ECHELON_BLOCK_LANES
  if constexpr (B > 0 && sizeof(T) == sizeof(double)) {
    if (A.offsets.size() <= most_line_entries) {
      // Any vector of the grid's length will do for x.
      MatrixLine<T> all(A, {A.values, nullptr, nullptr}, line);
      all.y = sums;
      return part_of_line<SizeSum, double, B>(all, 0, g.nx);
    }
  }
#endif
  const std::int64_t b = extent<B>(A.block), j = line % g.ny, k = line / g.ny;
  std::fill_n(sums, g.nx * b, 0.0);
  for (std::size_t e = 0; e < A.offsets.size(); ++e) {
    const Offset o = A.offsets[e];
    if (j + o.y < 0 || j + o.y >= g.ny || k + o.z < 0 || k + o.z >= g.nz) continue;
    const T* values = A.values + (static_cast<std::int64_t>(e) * g.points() + line * g.nx) * b * b;
    const std::int64_t last = std::min<std::int64_t>(g.nx, g.nx - o.x);
    for (std::int64_t i = std::max<std::int64_t>(0, -std::int64_t{o.x}); i < last; ++i) {
      for (std::int64_t c = 0; c < b; ++c) {
        for (std::int64_t r = 0; r < b; ++r) sums[i * b + r] += magnitude(double(values[(i * b + c) * b + r]));
      }
    }
  }
}

/// y = D x, D the given blocks.
template <int B, class T>
void block_diagonal(int b, const T* blocks, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end) {
  const std::int64_t n = extent<B>(b);
  for (std::int64_t i = begin; i < end; ++i) product<B>(b, blocks + i * n * n, v.x + i * n, v.y + i * n);
}

template <class T>
SpmvKernels<T> spmv_table() {
  return {shapes::table<typename SpmvKernels<T>::Rows>([]<int B>() { return &csr_rows<B, T>; }),
          shapes::table<typename SpmvKernels<T>::Points>([]<int B>() { return &struct_points<B, T>; }),
          shapes::table<typename SpmvKernels<T>::Diagonal>([]<int B>() { return &block_diagonal<B, T>; }),
          shapes::table<typename SpmvKernels<T>::Sizes>([]<int B>() { return &line_sizes<B, T>; })};
}

SpmvKernels<double> spmv_double() { return spmv_table<double>(); }
SpmvKernels<float> spmv_float() { return spmv_table<float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {

HWY_EXPORT(spmv_double);
HWY_EXPORT(spmv_float);

template <>
const SpmvKernels<double>& spmv_kernels<double>() {
  static const SpmvKernels<double> table = HWY_DYNAMIC_DISPATCH(spmv_double)();
  return table;
}

template <>
const SpmvKernels<float>& spmv_kernels<float>() {
  static const SpmvKernels<float> table = HWY_DYNAMIC_DISPATCH(spmv_float)();
  return table;
}

}  // namespace echelon
#endif
