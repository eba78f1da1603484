// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of scalar stencils, a line at a time, so that every coefficient plane is one stream of memory. A step of eight
// points: first the entries of other lines, lanes over points, then the recurrence along the line, point by point, which
// runs while the loads of the next steps are under way. Bytes a point: 8 an entry, 8 for D⁻¹ in U (and in L when it is
// scaled), 16 for r and x. Reads are safe: entries whose line lies outside the grid are dropped before a line begins, and
// points near the ends of a line are done one by one.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/grid/struct_sweep_scalar.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "echelon/base/fma.hpp"
#include "echelon/base/simd.inl"
#include "echelon/sweep/grid/struct_sweep.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr int step_width = 8;
/// How far ahead memory is asked for: beyond what the processor's own prefetcher does at the start of a page.
constexpr std::int64_t ahead = 160;

template <class S, class T>
struct SweptLine {
  static constexpr bool narrow = sizeof(S) < sizeof(T);
  const LineEntry* across;  // entries of other lines, inside the grid, in sweep order
  const LineEntry* along;   // those of this line
  int across_count, along_count;
  const T* r;
  T* x;
  const S* inverse;
  T r_scale;  // used where coefficients are narrow
};

/// The values before a step along the line, the farthest first, as the entries are. They stay in registers from step to
/// step: to read back what was just stored would cost a cycle a point. `entries` is known to the compiler where it is 1 or 2
/// and the neighbours are the nearest; else there are none.
template <bool lower, class S, class T, class Count>
HWY_INLINE void begin_values(const SweptLine<S, T>& line, std::int64_t i0, Count, T* last) {
  if constexpr (!std::is_same_v<Count, int>) {
    constexpr int count = Count::value;
    for (int a = 0; a < count; ++a) last[a] = line.x[i0 + (lower ? a - count : step_width - 1 + count - a)];
  }
}

/// The recurrence along the line over eight points, in sweep direction.
template <bool lower, class S, class T, class Count>
HWY_INLINE void recur(const SweptLine<S, T>& line, std::int64_t i0, Count entries, T* last, const T* sum,
                      const T* coefficient, const T* inverse) {
  T* x = line.x + i0;
  if constexpr (!std::is_same_v<Count, int>) {
    constexpr int count = Count::value;
    for (int n = 0; n < step_width; ++n) {
      const int lane = lower ? n : step_width - 1 - n;
      T value = sum[lane];
      for (int a = 0; a < count; ++a) value = fma(-coefficient[a * step_width + lane], last[a], value);
      if (!lower) value *= inverse[lane];
      for (int a = 0; a + 1 < count; ++a) last[a] = last[a + 1];
      last[count - 1] = value;
      x[lane] = value;
    }
  } else {
    for (int n = 0; n < step_width; ++n) {
      const int lane = lower ? n : step_width - 1 - n;
      T value = sum[lane];
      for (int a = 0; a < entries; ++a) {
        value = fma(-coefficient[a * step_width + lane], x[lane + line.along[a].shift], value);
      }
      x[lane] = lower ? value : value * inverse[lane];
    }
  }
}

/// Points [i0, i0 + 8) of a line, which lie with all their neighbours inside it.
template <bool lower, bool scaled, class S, class T, class Count>
HWY_INLINE void inner_step(const SweptLine<S, T>& line, std::int64_t i0, Count entries, T* last) {
  const hn::CappedTag<T, step_width> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr std::int64_t soon = lower ? ahead : -ahead;
  HWY_ALIGN T sum[step_width], coefficient[most_along * step_width], inverse[step_width];
  for (std::int64_t v = 0; v < step_width; v += lanes) {
    const std::int64_t i = i0 + v;
    const auto coefficients = [&](const LineEntry& e) {
      const auto* values = static_cast<const S*>(e.values) + i;
      __builtin_prefetch(values + soon);
      const auto a = load_as(d, values);
      if constexpr (scaled) return hn::Mul(a, load_as(d, static_cast<const S*>(e.inverse) + i));
      return a;
    };
    __builtin_prefetch(line.r + i + soon);
    auto s = hn::LoadU(d, line.r + i);
    if constexpr (lower && SweptLine<S, T>::narrow) s = hn::Mul(s, hn::Set(d, line.r_scale));
    for (int e = 0; e < line.across_count; ++e) {
      const LineEntry& entry = line.across[e];
      s = hn::NegMulAdd(coefficients(entry), hn::LoadU(d, static_cast<const T*>(entry.x) + i), s);
    }
    if constexpr (!lower || scaled) __builtin_prefetch(line.inverse + i + soon);
    if constexpr (!lower) hn::Store(load_as(d, line.inverse + i), d, inverse + v);
    hn::Store(s, d, sum + v);
    for (int a = 0; a < entries; ++a) hn::Store(coefficients(line.along[a]), d, coefficient + a * step_width + v);
  }
  if constexpr (lower) __builtin_prefetch(line.x + i0 + soon, 1);
  recur<lower>(line, i0, entries, last, sum, coefficient, inverse);
}

/// The points of [i0, i0 + 8) that lie on the line, one by one.
template <bool lower, bool scaled, class S, class T>
void outer_step(const SweptLine<S, T>& line, std::int64_t i0, std::int64_t nx) {
  const hn::CappedTag<T, 1> one;
  const auto value = [&](const void* p, std::int64_t i) { return hn::GetLane(load_as(one, static_cast<const S*>(p) + i)); };
  const std::int64_t from = std::max<std::int64_t>(i0, 0), to = std::min(i0 + step_width, nx);
  for (std::int64_t n = from; n < to; ++n) {
    const std::int64_t i = lower ? n : from + to - 1 - n;
    T sum = lower && SweptLine<S, T>::narrow ? line.r[i] * line.r_scale : line.r[i];
    for (int e = 0; e < line.across_count + line.along_count; ++e) {
      const LineEntry& entry = line.across[e];  // those along the line follow
      if (i + entry.shift < 0 || i + entry.shift >= nx) continue;
      T a = value(entry.values, i);
      if constexpr (scaled) a *= value(entry.inverse, i);
      sum = fma(-a, static_cast<const T*>(entry.x)[i], sum);
    }
    line.x[i] = lower ? sum : sum * value(line.inverse, i);
  }
}

/// Line j of plane k: its entries that are inside, those of other lines first.
template <bool scaled, class S, class T>
SweptLine<S, T> begin_line(const StructTriangle& t, const SweepVectors<T>& v, std::int64_t j, std::int64_t k,
                           LineEntry* space) {
  const Grid& g = t.grid;
  const std::int64_t base = (k * g.ny + j) * g.nx;
  const auto* inverse = static_cast<const S*>(t.inverse_diagonal);
  SweptLine<S, T> line{
      space, nullptr, 0, 0, v.r + base, v.x + base, inverse ? inverse + base : nullptr, static_cast<T>(t.r_scale)};
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

/// Steps [begin, end) of a line, of which those in [first, last) have all their neighbours.
template <bool lower, bool scaled, class S, class T>
HWY_INLINE void run_line(const SweptLine<S, T>& line, const LineWork& work, std::int64_t first, std::int64_t last,
                         std::int64_t nx) {
  const auto start = [&](std::int64_t n) { return lower ? n * step_width : nx - (n + 1) * step_width; };
  std::int64_t n = work.begin;
  for (; n < std::min(first, work.end); ++n) outer_step<lower, scaled>(line, start(n), nx);
  const auto inner = [&](auto entries) {
    const std::int64_t end = std::min(last, work.end);
    if (n >= end) return;
    T values[2];
    begin_values<lower>(line, start(n), entries, values);
    for (; n < end; ++n) inner_step<lower, scaled>(line, start(n), entries, values);
  };
  const auto nearest = [&](int a) { return line.along[a].shift == (lower ? a - line.along_count : line.along_count - a); };
  if (line.along_count == 1 && nearest(0)) {
    inner(std::integral_constant<int, 1>());
  } else if (line.along_count == 2 && nearest(0) && nearest(1)) {
    inner(std::integral_constant<int, 2>());
  } else {
    inner(line.along_count);
  }
  for (; n < work.end; ++n) outer_step<lower, scaled>(line, start(n), nx);
}

template <bool lower, bool scaled, class S, class T>
void sweep_line(const StructTriangle& t, const LineWork& work, const SweepVectors<T>& v, void* scratch) {
  const Grid& g = t.grid;
  std::int64_t before = 0, after = 0;  // how far entries reach, in sweep direction
  for (const TriangleEntry& e : t.entries) {
    before = std::max<std::int64_t>(before, lower ? -e.offset.x : e.offset.x);
    after = std::max<std::int64_t>(after, lower ? e.offset.x : -e.offset.x);
  }
  const std::int64_t first = (before + step_width - 1) / step_width;
  const std::int64_t last = std::max<std::int64_t>(first, (g.nx - after) / step_width);
  const std::int64_t j = lower ? work.line : g.ny - 1 - work.line, k = lower ? work.plane : g.nz - 1 - work.plane;
  run_line<lower, scaled>(begin_line<scaled, S, T>(t, v, j, k, static_cast<LineEntry*>(scratch)), work, first, last, g.nx);
}

template <class S, class T>
StructSweepKernels<T> stored_as() {
  const auto lower = [](const StructTriangle& t, const LineWork& work, const SweepVectors<T>& v, void* scratch) {
    t.scaled ? sweep_line<true, true, S, T>(t, work, v, scratch) : sweep_line<true, false, S, T>(t, work, v, scratch);
  };
  return {lower, &sweep_line<false, false, S, T>, {1, step_width}};
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
