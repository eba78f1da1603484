// SPDX-License-Identifier: BSD-3-Clause
// A pack of points: first the entries of other lines, lanes over points; then along the line, point by point,
//   x_p = s_p d_p − Σ_a (l_a d_p) x_a,   half_p = s_p − Σ_a l_a x_a,   d = D⁻¹,  s = r − Σ of the others' l x,
// one fma on the way from point to point, while the loads of the next packs are under way. The backward sweep is the same
// with U, and d = 1/D. From a guess x_p begins with (s_p − t_p) d_p, t = Σ u x₀, and half stays as it is.
// Bytes a point: 8 an entry, 8 for D or D⁻¹, and the vectors. Memory is asked for six packs ahead, into L2: the few miss
// buffers of L1 would bound it. Reads are safe: entries of lines outside the grid are left out, and packs near the ends of
// a line load only the lanes that are there.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/grid/gauss_seidel_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "echelon/base/fma.hpp"
#include "echelon/base/lane_sums.inl"
#include "echelon/sweep/grid/gauss_seidel_kernels.hpp"
#include "echelon/sweep/grid/packed_lines.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <class T>
PackedTriangle<T, Offset> triangle(const PackedMatrix<T>& A, bool lower) {
  return lower ? PackedTriangle<T, Offset>{A.grid, A.lower, A.L, 1} : PackedTriangle<T, Offset>{A.grid, A.upper, A.U, 1};
}

enum class SweepKind { from_zero, from_guess, backward };

template <class T>
struct SweptPacks {
  PackedLine<T> own, other;  // other: U, from a guess
  const T* r;
  T *half, *x;
  std::int64_t nx;
};

/// One pack's sums and what the recurrence needs of them.
template <class T>
struct PackSums {
  alignas(64) T sum[pack_points<T>];      // s
  alignas(64) T start[pack_points<T>];    // s d, or (s − t) d
  alignas(64) T inverse[pack_points<T>];  // d
  alignas(64) T factor[2 * pack_points<T>];
};

/// `along` is known to the compiler where it is 0, 1 or 2 and the neighbours are the nearest: `last` then are the values
/// before the pack (packed_lines.inl).
template <SweepKind kind, bool edge, class T, class Count>
HWY_INLINE void recur(const SweptPacks<T>& line, const T* pack, std::int64_t i0, Count along, T* last,
                      const PackSums<T>& in) {
  constexpr bool forward = kind != SweepKind::backward;
  constexpr int W = pack_points<T>;
  T* x = line.x + i0;
  const std::int64_t here = edge ? line.nx - i0 : W;  // lanes on the line
  if constexpr (!std::is_same_v<Count, int>) {
    constexpr int count = Count::value;
    for (int n = 0; n < W; ++n) {
      const int lane = forward ? n : W - 1 - n;
      T value = in.start[lane], sum = forward ? in.sum[lane] : T(0);
      for (int a = 0; a < count; ++a) {
        value = fma(-in.factor[a * W + lane], last[a], value);
        if (forward) sum = fma(-pack[line.own.operand[line.own.across + a].slot + lane], last[a], sum);
      }
      for (int a = 0; a + 1 < count; ++a) last[a] = last[a + 1];
      if (count > 0) last[count - 1] = value;
      if (edge && lane >= here) continue;
      x[lane] = value;
      if (forward) line.half[i0 + lane] = sum;
    }
  } else {
    for (int n = 0; n < W; ++n) {
      const int lane = forward ? n : W - 1 - n;
      if (edge && lane >= here) continue;
      T value = in.start[lane], sum = forward ? in.sum[lane] : T(0);
      for (int a = 0; a < along; ++a) {
        const PackedOperand<T>& o = line.own.operand[line.own.across + a];
        const std::int64_t neighbour = lane + o.shift;
        if (edge && (i0 + neighbour < 0 || neighbour >= here)) continue;
        value = fma(-(pack[o.slot + lane] * in.inverse[lane]), x[neighbour], value);
        if (forward) sum = fma(-pack[o.slot + lane], x[neighbour], sum);
      }
      x[lane] = value;
      if (forward) line.half[i0 + lane] = sum;
    }
  }
}

template <SweepKind kind, bool edge, class T, class Count>
HWY_INLINE void sweep_pack(const SweptPacks<T>& line, std::int64_t p, Count along, T* last) {
  constexpr bool forward = kind != SweepKind::backward, guess = kind == SweepKind::from_guess;
  constexpr int W = pack_points<T>;
  const Points<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* pack = line.own.packs + p * line.own.stride;
  ask_for(pack + (forward ? packs_ahead : -packs_ahead) * line.own.stride, line.own.stride);
  if constexpr (guess) {
    ask_for(line.other.packs + (p + packs_ahead) * line.other.stride, line.other.stride - W);
  }
  PackSums<T> sums;
  for (std::int64_t v = 0; v < W; v += lanes) {
    const std::int64_t i = p * W + v;
    const auto s = gathered<edge, true>(d, line.own.operand, line.own.operand + line.own.across, pack + v, i, line.nx,
                                        load_points<edge>(d, line.r, i, line.nx));
    auto inverse = hn::Load(d, pack + line.own.diagonal + v);
    if constexpr (!forward) inverse = hn::Div(hn::Set(d, T(1)), inverse);
    auto start = s;
    if constexpr (guess) {
      const auto t = gathered<edge, false>(d, line.other.operand, line.other.operand + line.other.count(),
                                           line.other.packs + p * line.other.stride + v, i, line.nx, hn::Zero(d));
      start = hn::Sub(s, t);
    }
    if constexpr (forward) hn::Store(s, d, sums.sum + v);
    hn::Store(hn::Mul(start, inverse), d, sums.start + v);
    if constexpr (std::is_same_v<Count, int>) {
      hn::Store(inverse, d, sums.inverse + v);
    } else {
      for (int a = 0; a < along; ++a) {
        const auto entry = hn::Load(d, pack + line.own.operand[line.own.across + a].slot + v);
        hn::Store(hn::Mul(entry, inverse), d, sums.factor + a * W + v);
      }
    }
  }
  recur<kind, edge>(line, pack, p * W, along, last, sums);
}

template <SweepKind kind, class T>
void sweep_line(const PackedMatrix<T>& A, const LineWork& work, const GaussSeidelVectors<T>& v, PackedOperand<T>* space) {
  constexpr bool forward = kind != SweepKind::backward, guess = kind == SweepKind::from_guess;
  const Grid& g = A.grid;
  const LineAt at = forward ? LineAt{work.line, work.plane} : LineAt{g.ny - 1 - work.line, g.nz - 1 - work.plane};
  const std::int64_t base = (at.k * g.ny + at.j) * g.nx;
  SweptPacks<T> line;
  line.own = packed_line(triangle(A, forward), at, v.x, space);
  if (guess) line.other = packed_line(triangle(A, false), at, v.x, space + line.own.count());
  line.r = forward ? v.r + base : v.half + base;
  line.half = v.half + base;
  line.x = v.x + base;
  line.nx = g.nx;
  const std::int64_t left = std::max(line.own.left, guess ? line.other.left : 0);
  const std::int64_t right = std::max(line.own.right, guess ? line.other.right : 0);
  for_swept_packs<forward>(line.own, line.x, work, g.nx, left, right,
                           [&](std::int64_t pack, auto edge, auto along, T* values) {
                             sweep_pack<kind, decltype(edge)::value>(line, pack, along, values);
                           });
}

/// r − half − L x at points [i, i + lanes).
template <bool edge, class D, class T>
HWY_INLINE hn::Vec<D> residual_at(D d, const PackedLine<T>& L, const T* pack, const T* r, const T* half, std::int64_t i,
                                  std::int64_t nx) {
  const auto start = hn::Sub(load_points<edge>(d, r, i, nx), load_points<edge>(d, half, i, nx));
  return gathered<edge, true>(d, L.operand, L.operand + L.count(), pack, i, nx, start);
}

/// use(d, value, i, edge) for the residual of each piece of the line.
template <class T, class Use>
HWY_INLINE void residual_of_line(const PackedMatrix<T>& A, LineAt at, const GaussSeidelVectors<T>& v,
                                 PackedOperand<T>* space, const Use& use) {
  const PackedLine<T> L = packed_line<T>(triangle(A, true), at, v.x, space);
  const std::int64_t base = (at.k * A.grid.ny + at.j) * A.grid.nx;
  for_packs<T>(A.grid.nx, L.left, L.right, [&](std::int64_t p, auto whole) {
    constexpr bool edge = !decltype(whole)::value;
    const Points<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const T* pack = L.packs + p * L.stride;
    ask_for(pack + packs_ahead * L.stride, L.stride - pack_points<T>);
    for (std::int64_t n = 0; n < pack_points<T>; n += lanes) {
      const std::int64_t i = p * pack_points<T> + n;
      use(d, residual_at<edge>(d, L, pack + n, v.r + base, v.half + base, i, A.grid.nx), i, std::bool_constant<edge>());
    }
  });
}

template <class T>
void residual_line(const PackedMatrix<T>& A, std::int64_t number, const GaussSeidelVectors<T>& v, PackedOperand<T>* space) {
  const Grid& g = A.grid;
  T* out = v.out + number * g.nx;
  residual_of_line(A, {number % g.ny, number / g.ny}, v, space, [&](auto d, auto value, std::int64_t i, auto edge) {
    store_points<decltype(edge)::value>(d, value, out, i, g.nx);
  });
}

template <class T>
void coarse_residual_line(const PackedMatrix<T>& A, std::int64_t number, const GaussSeidelVectors<T>& v,
                          PackedOperand<T>* space) {
  const Grid& g = A.grid;
  const LineAt at{number % g.ny, number / g.ny};
  T* out = v.out + (at.k / 2 * ((g.ny + 1) / 2) + at.j / 2) * ((g.nx + 1) / 2);
  residual_of_line(A, at, v, space, [&](auto d, auto value, std::int64_t i, auto) {
    HWY_ALIGN T lane[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(value, d, lane);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t n = i % 2; n < std::min(lanes, g.nx - i); n += 2) out[(i + n) / 2] = lane[n];
  });
}

template <class T>
void multiply_line(const PackedMatrix<T>& A, std::int64_t number, const GaussSeidelVectors<T>& v, PackedOperand<T>* space) {
  const Grid& g = A.grid;
  const LineAt at{number % g.ny, number / g.ny};
  const PackedLine<T> L = packed_line<T>(triangle(A, true), at, v.x, space);
  PackedOperand<T>* const upper = space + L.count();
  const PackedLine<T> U = packed_line<T>(triangle(A, false), at, v.x, upper);
  std::reverse(upper, upper + U.count());  // columns ascending, as in every product of the library
  const T* x = v.x + number * g.nx;
  T* out = v.out + number * g.nx;
  for_packs<T>(A.grid.nx, std::max(L.left, U.left), std::max(L.right, U.right), [&](std::int64_t p, auto whole) {
    constexpr bool edge = !decltype(whole)::value;
    const Points<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const T *lower_pack = L.packs + p * L.stride, *upper_pack = U.packs + p * U.stride;
    ask_for(lower_pack + packs_ahead * L.stride, L.stride - pack_points<T>);
    ask_for(upper_pack + packs_ahead * U.stride, U.stride);
    for (std::int64_t n = 0; n < pack_points<T>; n += lanes) {
      const std::int64_t i = p * pack_points<T> + n;
      auto sum = gathered<edge, false>(d, L.operand, L.operand + L.count(), lower_pack + n, i, g.nx, hn::Zero(d));
      sum = fused<false>(d, hn::Load(d, upper_pack + U.diagonal + n), load_points<edge>(d, x, i, g.nx), sum);
      sum = gathered<edge, false>(d, U.operand, U.operand + U.count(), upper_pack + n, i, g.nx, sum);
      store_points<edge>(d, sum, out, i, g.nx);
    }
  });
}

/// A's values of one line into its packs.
template <class T>
void store_line(const PackedMatrix<T>& A, const PackSource<T>& from, std::int64_t number, T* L, T* U) {
  constexpr int W = pack_points<T>;
  const Grid& g = A.grid;
  const LineAt at{number % g.ny, number / g.ny};
  const Points<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto entries = static_cast<std::int64_t>(from.offsets.size());
  const std::int64_t lower_stride = (from.center + 1) * W, upper_stride = (entries - from.center) * W;
  for (std::int64_t p = 0; p < A.packs; ++p) {
    T* const lower = L + (number * A.packs + p) * lower_stride;
    T* const upper = U + (number * A.packs + p) * upper_stride;
    for (std::int64_t e = 0; e < entries; ++e) {
      const Offset o = from.offsets[static_cast<std::size_t>(e)];
      const bool inside = at.j + o.y >= 0 && at.j + o.y < g.ny && at.k + o.z >= 0 && at.k + o.z < g.nz;
      // Points [begin, end) of the line have this neighbour.
      const std::int64_t begin = inside ? std::max<std::int64_t>(0, -o.x) : 0;
      const std::int64_t end = inside ? std::max(begin, std::min(g.nx, g.nx - o.x)) : 0;
      const T* values = from.values + e * g.points() + number * g.nx;
      for (std::int64_t n = 0; n < W; n += lanes) {
        const std::int64_t i = p * W + n;
        const std::int64_t first = std::clamp<std::int64_t>(begin - i, 0, lanes);
        const std::int64_t last = std::max(first, std::clamp<std::int64_t>(end - i, 0, lanes));
        const bool all = first == 0 && last == lanes;
        auto value = all ? hn::LoadU(d, values + i) : load_lanes(d, values + i, first, last);
        if (e < from.center) {
          hn::Store(value, d, lower + e * W + n);
        } else if (e > from.center) {
          hn::Store(value, d, upper + (entries - 1 - e) * W + n);
        } else {
          const auto one = hn::Set(d, T(1));
          if (!all) value = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(last)), value, one);
          hn::Store(value, d, upper + upper_stride - W + n);
          hn::Store(hn::Div(one, value), d, lower + lower_stride - W + n);
        }
      }
    }
  }
}

template <class T>
double packed_dot(const T* x, const T* y, std::int64_t n) {
  LaneSums sums;
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    for (int k = 0; k < packs; ++k) sums.part[k] = mul_add(load(x + i + k * width), load(y + i + k * width), sums.part[k]);
  }
  return folded(sums, n - i, [&](std::int64_t l, double sum) { return fma(double(x[i + l]), double(y[i + l]), sum); });
}

template <class T>
GaussSeidelKernels<T> all_kernels() {
  return {&sweep_line<SweepKind::from_zero, T>,
          &sweep_line<SweepKind::from_guess, T>,
          &sweep_line<SweepKind::backward, T>,
          &residual_line<T>,
          &coarse_residual_line<T>,
          &multiply_line<T>,
          &store_line<T>,
          &packed_dot<T>};
}
GaussSeidelKernels<double> gauss_seidel_double() { return all_kernels<double>(); }
GaussSeidelKernels<float> gauss_seidel_float() { return all_kernels<float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(gauss_seidel_double);
HWY_EXPORT(gauss_seidel_float);

template <>
GaussSeidelKernels<double> gauss_seidel_kernels<double>() {
  return HWY_DYNAMIC_DISPATCH(gauss_seidel_double)();
}
template <>
GaussSeidelKernels<float> gauss_seidel_kernels<float>() {
  return HWY_DYNAMIC_DISPATCH(gauss_seidel_float)();
}

}  // namespace echelon
#endif
