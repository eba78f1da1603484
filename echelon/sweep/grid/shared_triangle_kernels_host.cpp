// SPDX-License-Identifier: BSD-3-Clause
// The kernels of shared_triangle_kernels.hpp with SIMD; sums and packs are those of lane_sums.inl, tails go one by one with
// the same operations. Bytes a point when nothing is in cache: right_side 40, curvature 32, update 56, residual and
// half_product 8 an entry and 32 and 40 besides. Reads are safe: an entry of a line is taken only where its neighbour is on
// the grid.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/grid/shared_triangle_kernels_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "echelon/base/lane_sums.inl"
#include "echelon/sweep/grid/shared_triangle_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

using Arrays = SharedTriangleArrays<double>;

void direction(const double* g, double beta, double* p, std::int64_t begin, std::int64_t n) {
  std::int64_t i = begin;
  for (; i + width <= begin + n; i += width) store(mul_add(all(beta), load(p + i), load(g + i)), p + i);
  for (; i < begin + n; ++i) p[i] = fma(beta, p[i], g[i]);
}

void right_side(const Arrays& a, const EisenstatDirection& d, double* y, std::int64_t begin, std::int64_t n) {
  const double *p = d.p, *t = d.t;
  std::int64_t i = begin;
  for (; i + width <= begin + n; i += width) {
    const Pack K = minus(over(all(2), load(a.inverse + i)), load(a.diagonal + i));
    store(neg_mul_add(K, load(t + i), load(p + i)), y + i);
  }
  for (; i < begin + n; ++i) y[i] = fma(-(2 / a.inverse[i] - a.diagonal[i]), t[i], p[i]);
}

double curvature(const Arrays& a, const EisenstatDirection& d, const double* y, std::int64_t begin, std::int64_t n) {
  const double *p = d.p, *t = d.t;
  LaneSums sums;
  std::int64_t i = begin;
  for (; i + row <= begin + n; i += row) {
    for (int k = 0; k < packs; ++k) {
      const std::int64_t at = i + k * width;
      const Pack image = mul_add(load(a.inverse + at), load(y + at), load(t + at));
      sums.part[k] = mul_add(load(p + at), image, sums.part[k]);
    }
  }
  return folded(sums, begin + n - i,
                [&](std::int64_t l, double sum) { return fma(p[i + l], fma(a.inverse[i + l], y[i + l], t[i + l]), sum); });
}

double weighted_square(const Arrays& a, const double* g, std::int64_t begin, std::int64_t n) {
  LaneSums sums;
  std::int64_t i = begin;
  for (; i + row <= begin + n; i += row) {
    for (int k = 0; k < packs; ++k) {
      const Pack value = load(g + i + k * width);
      sums.part[k] = mul_add(times(load(a.inverse + i + k * width), value), value, sums.part[k]);
    }
  }
  return folded(sums, begin + n - i,
                [&](std::int64_t l, double sum) { return fma(a.inverse[i + l] * g[i + l], g[i + l], sum); });
}

double update(const Arrays& a, const EisenstatStep& both, std::int64_t begin, std::int64_t n) {
  const double alpha = both.alpha, *t = both.t, *y = both.y;
  double *x = both.x, *g = both.g;
  LaneSums sums;
  std::int64_t i = begin;
  for (; i + row <= begin + n; i += row) {
    for (int k = 0; k < packs; ++k) {
      const std::int64_t at = i + k * width;
      const Pack inverse = load(a.inverse + at), step = load(t + at);
      store(mul_add(all(alpha), step, load(x + at)), x + at);
      const Pack image = mul_add(over(all(1), inverse), step, load(y + at));
      const Pack left = neg_mul_add(all(alpha), image, load(g + at));
      store(left, g + at);
      sums.part[k] = mul_add(times(inverse, left), left, sums.part[k]);
    }
  }
  return folded(sums, begin + n - i, [&](std::int64_t l, double sum) {
    const std::int64_t at = i + l;
    x[at] = fma(alpha, t[at], x[at]);
    g[at] = fma(-alpha, fma(1 / a.inverse[at], t[at], y[at]), g[at]);
    return fma(a.inverse[at] * g[at], g[at], sum);
  });
}

/// body(first, n, moved) for the points [first, first + n) of the line that have the entry, the neighbour `moved` further.
template <class Body>
HWY_INLINE void where_inside(const Grid& g, const Offset& o, std::int64_t line, const Body& body) {
  const std::int64_t j = line % g.ny, k = line / g.ny;
  if (j + o.y < 0 || j + o.y >= g.ny || k + o.z < 0 || k + o.z >= g.nz) return;
  const std::int64_t first = std::max<std::int64_t>(0, -std::int64_t{o.x}), last = std::min(g.nx, g.nx - o.x);
  if (first < last) body(line * g.nx + first, last - first, (std::int64_t{o.z} * g.ny + o.y) * g.nx + o.x);
}

double residual(const Arrays& a, const double* g, double* r, std::int64_t line, std::int64_t lines) {
  const std::int64_t begin = line * a.grid.nx, n = lines * a.grid.nx;
  std::copy_n(g + begin, n, r + begin);
  for (std::int64_t one = line; one < line + lines; ++one) {
    for (const TriangleEntry& entry : a.lower) {
      const auto* values = static_cast<const double*>(entry.values);
      where_inside(a.grid, entry.offset, one, [&](std::int64_t first, std::int64_t count, std::int64_t moved) {
        std::int64_t i = first;
        for (; i + width <= first + count; i += width) {
          const Pack w = times(load(a.inverse + i + moved), load(g + i + moved));
          store(mul_add(load(values + i), w, load(r + i)), r + i);
        }
        for (; i < first + count; ++i) r[i] = fma(values[i], a.inverse[i + moved] * g[i + moved], r[i]);
      });
    }
  }
  LaneSums sums;
  std::int64_t i = begin;
  for (; i + row <= begin + n; i += row) {
    for (int k = 0; k < packs; ++k) {
      const Pack value = load(r + i + k * width);
      sums.part[k] = mul_add(value, value, sums.part[k]);
    }
  }
  return folded(sums, begin + n - i, [&](std::int64_t l, double sum) { return fma(r[i + l], r[i + l], sum); });
}

/// Entries of L that one pass over a line adds; more take another pass.
constexpr std::int64_t entries_a_pass = 16;
/// Memory is asked for so many points before its use. Lines are walked as the upper sweep does, from the last point to the
/// first.
constexpr std::int64_t ahead = 160;

/// Entries of one line that are inside the grid, for one pass.
struct LowerEntries {
  struct One {
    const double *values, *z;  // both at the line's first point
    std::int64_t shift;
  };
  One entry[entries_a_pass];
  int count = 0;
  std::int64_t left = 0, right = 0;  // the farthest reach along the line

  LowerEntries(const Arrays& a, const double* z, std::int64_t line, std::span<const TriangleEntry> lower) {
    const Grid& g = a.grid;
    const std::int64_t j = line % g.ny, k = line / g.ny, base = line * g.nx;
    for (const TriangleEntry& one : lower) {
      const Offset o = one.offset;
      if (j + o.y < 0 || j + o.y >= g.ny || k + o.z < 0 || k + o.z >= g.nz || o.x <= -g.nx || o.x >= g.nx) continue;
      entry[count++] = {static_cast<const double*>(one.values) + base,
                        z + base + (std::int64_t{o.z} * g.ny + o.y) * g.nx + o.x, o.x};
      left = std::max<std::int64_t>(left, -std::int64_t{o.x});
      right = std::max<std::int64_t>(right, o.x);
    }
  }
};

/// w ← w + (D_A − D) z (when First) + L z on one line, all pointers at its first point.
template <bool First>
void half_product_line(const Arrays& a, const LowerEntries& L, const double* z, double* w, std::int64_t base) {
  const double *diagonal = a.diagonal + base, *inverse = a.inverse + base;
  const std::int64_t nx = a.grid.nx;
  const auto one_by_one = [&](std::int64_t from, std::int64_t to) HWY_ATTR {
    for (std::int64_t i = from; i < to; ++i) {
      double sum = First ? fma(diagonal[i] - 1 / inverse[i], z[i], w[i]) : w[i];
      for (int e = 0; e < L.count; ++e) {
        const auto& entry = L.entry[e];
        if (i + entry.shift >= 0 && i + entry.shift < nx) sum = fma(entry.values[i], entry.z[i], sum);
      }
      w[i] = sum;
    }
  };
  const auto packs_from = [&]<int count>(std::integral_constant<int, count>, std::int64_t i) HWY_ATTR {
    Pack sum[count];
    for (int p = 0; p < count; ++p) {
      const std::int64_t at = i + p * width;
      sum[p] = load(w + at);
      if constexpr (First) {
        const Pack change = minus(load(diagonal + at), over(all(1), load(inverse + at)));
        sum[p] = mul_add(change, load(z + at), sum[p]);
        if (p * width % 8 == 0) __builtin_prefetch(diagonal + at - ahead);
      }
    }
    for (int e = 0; e < L.count; ++e) {
      const auto& entry = L.entry[e];
      for (int p = 0; p < count; ++p) {
        const std::int64_t at = i + p * width;
        if (p * width % 8 == 0) __builtin_prefetch(entry.values + at - ahead);
        sum[p] = mul_add(load(entry.values + at), load(entry.z + at), sum[p]);
      }
    }
    for (int p = 0; p < count; ++p) store(sum[p], w + i + p * width);
  };
  const std::int64_t first = std::min(nx, L.left), last = std::max(first, nx - L.right);
  one_by_one(last, nx);
  std::int64_t end = last;
  for (; end - row >= first; end -= row) packs_from(std::integral_constant<int, packs>(), end - row);
  for (; end - width >= first; end -= width) packs_from(std::integral_constant<int, 1>(), end - width);
  one_by_one(0, end);
}

void half_product(const Arrays& a, const double* z, double* w, std::int64_t line, std::int64_t lines) {
  for (std::int64_t one = line + lines - 1; one >= line; --one) {
    const std::int64_t base = one * a.grid.nx;
    auto left = a.lower;
    const auto pass = [&] {
      const auto some = left.first(std::min<std::size_t>(left.size(), entries_a_pass));
      left = left.subspan(some.size());
      return LowerEntries(a, z, one, some);
    };
    half_product_line<true>(a, pass(), z + base, w + base, base);
    while (!left.empty()) half_product_line<false>(a, pass(), z + base, w + base, base);
  }
}

SharedTriangleKernels shared_triangle_kernels() {
  return {direction, right_side, curvature, weighted_square, update, residual, half_product};
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {

HWY_EXPORT(shared_triangle_kernels);

SharedTriangleKernels choose_shared_triangle_kernels() { return HWY_DYNAMIC_DISPATCH(shared_triangle_kernels)(); }

}  // namespace echelon
#endif
