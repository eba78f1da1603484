// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of scalar stencils. A step of eight points of a line: first the entries of other lines, lanes over points, then the
// recurrence along the line, one point after the other. The lines of a group take turns, so that their recurrences overlap.
// Bytes a point: 8 an entry, 8 for D⁻¹ in U (and in L when it is scaled), 16 for r and x. Reads are safe: entries whose line
// lies outside the grid are dropped before a line begins, and steps at the ends of a line load only lanes inside.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/struct_sweep_scalar.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "echelon/base/fma.hpp"
#include "echelon/base/simd.inl"
#include "echelon/sweep/struct_sweep.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr int step_width = 8, group_lines = 4;

template <class S, class T>
struct SweptLine {
  const LineEntry* across;  // entries of other lines, inside the grid, in sweep order
  const LineEntry* along;   // those of this line
  int across_count, along_count;
  const T* r;
  T* x;
  const S* inverse;
};

/// The along-line recurrence of one step over lanes [from, to), in sweep direction.
template <bool lower, class S, class T>
HWY_INLINE void recur(const SweptLine<S, T>& line, std::int64_t i0, std::int64_t nx, int from, int to, const T* sum,
                      const T* coefficient, const T* inverse) {
  constexpr int first_shift = lower ? -1 : 1;
  T* x = line.x + i0;
  const bool whole =
      to - from == step_width && i0 + first_shift * (lower ? 1 : step_width) >= 0 && (lower || i0 + step_width < nx);
  if (line.along_count == 1 && line.along[0].shift == first_shift && whole) {
    T last = lower ? x[-1] : x[step_width];
    for (int n = 0; n < step_width; ++n) {
      const int lane = lower ? n : step_width - 1 - n;
      last = fma(-coefficient[lane], last, sum[lane]);
      if (!lower) last *= inverse[lane];
      x[lane] = last;
    }
    return;
  }
  for (int n = from; n < to; ++n) {
    const int lane = lower ? n : from + to - 1 - n;
    T value = sum[lane];
    for (int a = 0; a < line.along_count; ++a) {
      const std::int64_t at = i0 + lane + line.along[a].shift;
      if (at >= 0 && at < nx) value = fma(-coefficient[a * step_width + lane], line.x[at], value);
    }
    x[lane] = lower ? value : value * inverse[lane];
  }
}

/// One step of one line: points [i0, i0 + 8), `edge` when some entry or point of it lies outside the line.
template <bool lower, bool scaled, bool edge, class S, class T>
HWY_INLINE void step(const SweptLine<S, T>& line, std::int64_t i0, std::int64_t nx) {
  const hn::CappedTag<T, step_width> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN T sum[step_width], coefficient[most_along * step_width], inverse[step_width];
  for (std::int64_t v = 0; v < step_width; v += lanes) {
    const std::int64_t i = i0 + v;
    // Lanes of this vector whose point, moved by `shift`, is on the line.
    const auto begin = [&](std::int64_t shift) {
      return std::clamp<std::int64_t>(-i - std::min<std::int64_t>(shift, 0), 0, lanes);
    };
    const auto end = [&](std::int64_t shift) {
      return std::clamp<std::int64_t>(nx - i - std::max<std::int64_t>(shift, 0), 0, lanes);
    };
    const auto load = [&](const auto* p, std::int64_t shift) {
      if constexpr (edge) {
        return load_lanes(d, p + i, begin(shift), std::max(begin(shift), end(shift)));
      } else {
        return load_as(d, p + i);
      }
    };
    const auto coefficients = [&](const LineEntry& e) {
      const auto a = load(static_cast<const S*>(e.values), e.shift);
      if constexpr (scaled) return hn::Mul(a, load(static_cast<const S*>(e.inverse), e.shift));
      return a;
    };
    auto s = load(line.r, 0);
    for (int e = 0; e < line.across_count; ++e) {
      const LineEntry& entry = line.across[e];
      const auto next = hn::NegMulAdd(coefficients(entry), load(static_cast<const T*>(entry.x), entry.shift), s);
      if constexpr (edge) {
        const auto before = hn::FirstN(d, static_cast<std::size_t>(begin(entry.shift)));
        const auto until = hn::FirstN(d, static_cast<std::size_t>(end(entry.shift)));
        s = hn::IfThenElse(hn::AndNot(before, until), next, s);
      } else {
        s = next;
      }
    }
    hn::Store(s, d, sum + v);
    for (int a = 0; a < line.along_count; ++a) hn::Store(coefficients(line.along[a]), d, coefficient + a * step_width + v);
    if constexpr (!lower) hn::Store(load(line.inverse, 0), d, inverse + v);
  }
  const int from = edge ? static_cast<int>(std::max<std::int64_t>(0, -i0)) : 0;
  const int to = edge ? static_cast<int>(std::min<std::int64_t>(step_width, nx - i0)) : step_width;
  recur<lower>(line, i0, nx, from, to, sum, coefficient, inverse);
}

/// Line j of plane k: its entries that are inside, those of other lines first.
template <bool scaled, class S, class T>
SweptLine<S, T> begin_line(const StructTriangle& t, const SweepVectors<T>& v, std::int64_t j, std::int64_t k,
                           LineEntry* space) {
  const Grid& g = t.grid;
  const std::int64_t base = (k * g.ny + j) * g.nx;
  const auto* inverse = static_cast<const S*>(t.inverse_diagonal);
  SweptLine<S, T> line{space, nullptr, 0, 0, v.r + base, v.x + base, inverse ? inverse + base : nullptr};
  LineEntry* at = space;
  for (const bool same_line : {false, true}) {
    if (same_line) line.along = at;
    for (const TriangleEntry& e : t.entries) {
      const Offset o = e.offset;
      if ((o.y == 0 && o.z == 0) != same_line) continue;
      if (j + o.y < 0 || j + o.y >= g.ny || k + o.z < 0 || k + o.z >= g.nz) continue;
      const std::int64_t moved = ((k + o.z) * g.ny + j + o.y) * g.nx + o.x;
      *at++ = {static_cast<const S*>(e.values) + base, v.x + moved, scaled ? inverse + moved : nullptr, o.x};
      ++(same_line ? line.along_count : line.across_count);
    }
  }
  return line;
}

template <bool lower, bool scaled, class S, class T>
void sweep_lines(const StructTriangle& t, const LineWork& work, const SweepVectors<T>& v, void* scratch) {
  const Grid& g = t.grid;
  const std::int64_t blocks = (g.nx + step_width - 1) / step_width;
  std::int64_t left = 0, right = 0;
  for (const TriangleEntry& e : t.entries) {
    left = std::max<std::int64_t>(left, -e.offset.x);
    right = std::max<std::int64_t>(right, e.offset.x);
  }
  SweptLine<S, T> lines[group_lines];
  const std::int64_t k = lower ? work.plane : g.nz - 1 - work.plane;
  for (int l = 0; l < work.lines; ++l) {
    const std::int64_t j = lower ? work.line + l : g.ny - 1 - work.line - l;
    lines[l] = begin_line<scaled, S, T>(t, v, j, k, static_cast<LineEntry*>(scratch) + l * (t.entries.size() + 1));
  }
  for (std::int64_t s = work.begin; s < work.end; ++s) {
    for (int l = 0; l < work.lines; ++l) {
      const std::int64_t n = s - std::int64_t{t.lag} * l;
      if (n < 0 || n >= blocks) continue;
      const std::int64_t i0 = lower ? n * step_width : g.nx - (n + 1) * step_width;
      if (i0 >= left && i0 + step_width + right <= g.nx) {
        step<lower, scaled, false>(lines[l], i0, g.nx);
      } else {
        step<lower, scaled, true>(lines[l], i0, g.nx);
      }
    }
  }
}

template <class S, class T>
StructSweepKernels<T> stored_as() {
  const auto lower = [](const StructTriangle& t, const LineWork& work, const SweepVectors<T>& v, void* scratch) {
    t.scaled ? sweep_lines<true, true, S, T>(t, work, v, scratch) : sweep_lines<true, false, S, T>(t, work, v, scratch);
  };
  return {lower, &sweep_lines<false, false, S, T>, {group_lines, step_width}};
}

StructSweepKernels<double> scalar_sweep_double(Stored stored) {
  switch (stored) {
    case Stored::fp64: return stored_as<double, double>();
    case Stored::fp32: return stored_as<float, double>();
    case Stored::bf16: return stored_as<hwy::bfloat16_t, double>();
    case Stored::fp16: return stored_as<hwy::float16_t, double>();
  }
  return {};
}

StructSweepKernels<float> scalar_sweep_float(Stored stored) {
  switch (stored) {
    case Stored::fp32: return stored_as<float, float>();
    case Stored::bf16: return stored_as<hwy::bfloat16_t, float>();
    case Stored::fp16: return stored_as<hwy::float16_t, float>();
    default: return {};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(scalar_sweep_double);
HWY_EXPORT(scalar_sweep_float);

template <>
StructSweepKernels<double> scalar_struct_sweep<double>(Stored stored) {
  return HWY_DYNAMIC_DISPATCH(scalar_sweep_double)(stored);
}
template <>
StructSweepKernels<float> scalar_struct_sweep<float>(Stored stored) {
  return HWY_DYNAMIC_DISPATCH(scalar_sweep_float)(stored);
}

}  // namespace echelon
#endif
