// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of scalar stencils, a line at a time, so that every coefficient plane is one stream of memory; narrow coefficients
// of narrow stencils in pairs of lines. A step of 8 points: first the entries of other lines, lanes over points, then the
// recurrence along the line, point by point, while the loads of the next steps are under way. Bytes a point: 8 an entry, 8
// for D⁻¹ in U (and in L when it is scaled), 16 for r and x. Reads are safe: entries whose line lies outside the grid are
// dropped before a line begins, and points near the ends of a line are done one by one.
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
constexpr int most_together = 2;  // lines of a group

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

/// What vectors of a step are made of, lanes over points from i on; memory is asked for `soon` points further.
template <class S, bool scaled, class D>
HWY_INLINE hn::Vec<D> coefficients(D d, const LineEntry& e, std::int64_t i, std::int64_t soon) {
  const auto* values = static_cast<const S*>(e.values) + i;
  __builtin_prefetch(values + soon);
  const auto a = load_as(d, values);
  if constexpr (scaled) return hn::Mul(a, load_as(d, static_cast<const S*>(e.inverse) + i));
  return a;
}

/// r less the entries of other lines.
template <bool lower, bool scaled, class D, class S, class T>
HWY_INLINE hn::Vec<D> across_sum(D d, const SweptLine<S, T>& line, std::int64_t i, std::int64_t soon) {
  __builtin_prefetch(line.r + i + soon);
  auto s = hn::LoadU(d, line.r + i);
  if constexpr (lower && SweptLine<S, T>::narrow) s = hn::Mul(s, hn::Set(d, line.r_scale));
  for (int e = 0; e < line.across_count; ++e) {
    const LineEntry& entry = line.across[e];
    s = fused<true>(d, coefficients<S, scaled>(d, entry, i, soon), hn::LoadU(d, static_cast<const T*>(entry.x) + i), s);
  }
  if constexpr (!lower || scaled) __builtin_prefetch(line.inverse + i + soon);
  if constexpr (lower) __builtin_prefetch(line.x + i + soon, 1);
  return s;
}

/// Points [i0, i0 + 8) of a line, which lie with all their neighbours inside it.
template <bool lower, bool scaled, class S, class T, class Count>
HWY_INLINE void inner_step(const SweptLine<S, T>& line, std::int64_t i0, Count entries, T* last) {
  const hn::CappedTag<T, step_width> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr std::int64_t soon = lower ? ahead : -ahead;
  HWY_ALIGN T sum[step_width], coefficient[most_along * step_width], inverse[step_width];
  for (std::int64_t v = 0; v < step_width; v += lanes) {
    hn::Store(across_sum<lower, scaled>(d, line, i0 + v, soon), d, sum + v);
    if constexpr (!lower) hn::Store(load_as(d, line.inverse + i0 + v), d, inverse + v);
    for (int a = 0; a < entries; ++a) {
      hn::Store(coefficients<S, scaled>(d, line.along[a], i0 + v, soon), d, coefficient + a * step_width + v);
    }
  }
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

/// Which steps of a line have all their neighbours: [first, last) of [0, steps).
struct LineSteps {
  std::int64_t first, last, steps, nx;
  /// The first point of a step, in memory.
  template <bool lower>
  std::int64_t start(std::int64_t n) const {
    return lower ? n * step_width : nx - (n + 1) * step_width;
  }
};

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
/// Two lines side by side, the second `lag` steps behind: the recurrences of both in the two lanes of one vector, so that
/// one point of each takes the time of one. For coefficients narrower than the vectors, where memory would let one line go
/// faster than its recurrence. Memory is asked for in the order in which it lies, a line and more ahead, as if the lines
/// came one after the other.
template <bool lower, bool scaled, class S, class T>
struct LinePair {
  using Two = hn::FixedTag<T, 2>;
  const SweptLine<S, T>* lines;
  const LineSteps& steps;
  std::int64_t lag;

  /// To the point whose turn it would be, from the one of line l at step n.
  std::int64_t soon(int l, std::int64_t n) const {
    const std::int64_t then = (2 * n + l) * step_width + steps.nx + ahead - l * steps.nx;
    return (lower ? then : steps.nx - step_width - then) - steps.start<lower>(n - l * lag);
  }

  /// Steps [n, end) of the group, all with all their neighbours on both lines.
  void run(std::int64_t n, std::int64_t end) const {
    const Two two;
    const auto before = [&](int l) { return lines[l].x[steps.start<lower>(n - l * lag) + (lower ? -1 : step_width)]; };
    HWY_ALIGN T first[2] = {before(0), before(1)};
    auto last = hn::Load(two, first);
    for (; n < end; ++n) last = step(n, last);
  }

  HWY_INLINE hn::Vec<Two> step(std::int64_t n, hn::Vec<Two> last) const {
    const Two two;
    const hn::CappedTag<T, step_width> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t i[2] = {steps.start<lower>(n), steps.start<lower>(n - lag)};
    const std::int64_t far[2] = {soon(0, n), soon(1, n)};
    HWY_ALIGN T sum[2 * step_width], coefficient[2 * step_width], inverse[2 * step_width];
    for (std::int64_t v = 0; v < step_width; v += lanes) {
      const auto in_turn = [&](const auto& of, T* to) { hn::StoreInterleaved2(of(0), of(1), d, to + 2 * v); };
      in_turn([&](int l) { return across_sum<lower, scaled>(d, lines[l], i[l] + v, far[l]); }, sum);
      in_turn([&](int l) { return coefficients<S, scaled>(d, lines[l].along[0], i[l] + v, far[l]); }, coefficient);
      if constexpr (!lower) in_turn([&](int l) { return load_as(d, lines[l].inverse + i[l] + v); }, inverse);
    }
    hn::Vec<Two> value[step_width];
    for (int m = 0; m < step_width; ++m) {
      const int lane = lower ? m : step_width - 1 - m;
      last = fused<true>(two, hn::Load(two, coefficient + 2 * lane), last, hn::Load(two, sum + 2 * lane));
      if constexpr (!lower) last = hn::Mul(last, hn::Load(two, inverse + 2 * lane));
      value[lane] = last;
    }
    for (int lane = 0; lane < step_width; lane += store_width) store(value + lane, i[0] + lane, i[1] + lane);
    return last;
  }

  /// As many values at once as vectors hold: the next line reads whole vectors, and would wait for parts.
  static constexpr int store_width = std::min<int>(step_width, HWY_LANES(T));
  HWY_INLINE void store(const hn::Vec<Two>* value, std::int64_t first, std::int64_t second) const {
    const hn::FixedTag<T, store_width> d;
    const auto front = side_by_side<store_width>(value), back = side_by_side<store_width>(value + store_width / 2);
    hn::StoreU(hn::ConcatEven(d, back, front), d, lines[0].x + first);
    hn::StoreU(hn::ConcatOdd(d, back, front), d, lines[1].x + second);
  }
  template <int lanes>
  static HWY_INLINE auto side_by_side(const hn::Vec<Two>* value) {
    if constexpr (lanes == 2) {
      return value[0];
    } else {
      return hn::Combine(hn::FixedTag<T, lanes>(), side_by_side<lanes / 2>(value + lanes / 4),
                         side_by_side<lanes / 2>(value));
    }
  }
};
#endif

/// Steps [begin, end) of a group: that of line l is `lag` l steps behind.
template <bool lower, bool scaled, class S, class T, class Count>
HWY_INLINE void run_group(const SweptLine<S, T>* lines, const LineWork& work, std::int64_t lag, const LineSteps& steps,
                          Count entries) {
  const auto one_line = [&](const SweptLine<S, T>& line, std::int64_t n, std::int64_t end) {
    for (; n < std::min(steps.first, end); ++n) outer_step<lower, scaled>(line, steps.start<lower>(n), steps.nx);
    const std::int64_t inner_end = std::min(steps.last, end);
    if (n < inner_end) {
      T values[2];
      begin_values<lower>(line, steps.start<lower>(n), entries, values);
      for (; n < inner_end; ++n) inner_step<lower, scaled>(line, steps.start<lower>(n), entries, values);
    }
    for (; n < end; ++n) outer_step<lower, scaled>(line, steps.start<lower>(n), steps.nx);
  };
  if (work.lines == 1) return one_line(lines[0], work.begin, std::min(work.end, steps.steps));
  const auto step_by_step = [&](std::int64_t n, std::int64_t end) {
    for (; n < end; ++n) {
      for (int l = 0; l < work.lines; ++l) {
        const std::int64_t own = n - l * lag;
        if (own >= 0 && own < steps.steps) one_line(lines[l], own, own + 1);
      }
    }
  };
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
  if constexpr (std::is_same_v<Count, std::integral_constant<int, 1>> && SweptLine<S, T>::narrow) {
    // Steps in which both lines have all their neighbours.
    const std::int64_t begin = std::clamp(steps.first + lag, work.begin, work.end);
    const std::int64_t end = std::clamp(steps.last, begin, work.end);
    step_by_step(work.begin, begin);
    if (begin < end) LinePair<lower, scaled, S, T>{lines, steps, lag}.run(begin, end);
    return step_by_step(end, work.end);
  }
#endif
  step_by_step(work.begin, work.end);
}

template <bool lower, bool scaled, class S, class T>
void sweep_lines(const StructTriangle& t, const LineWork& work, const SweepVectors<T>& v, void* scratch) {
  const Grid& g = t.grid;
  std::int64_t before = 0, after = 0;  // how far entries reach, in sweep direction
  for (const TriangleEntry& e : t.entries) {
    before = std::max<std::int64_t>(before, lower ? -e.offset.x : e.offset.x);
    after = std::max<std::int64_t>(after, lower ? e.offset.x : -e.offset.x);
  }
  const std::int64_t first = (before + step_width - 1) / step_width;
  const LineSteps steps{first, std::max<std::int64_t>(first, (g.nx - after) / step_width),
                        (g.nx + step_width - 1) / step_width, g.nx};
  SweptLine<S, T> lines[most_together];
  auto* space = static_cast<LineEntry*>(scratch);
  for (int l = 0; l < work.lines; ++l, space += t.entries.size()) {
    const std::int64_t line = work.line + l;
    const std::int64_t j = lower ? line : g.ny - 1 - line, k = lower ? work.plane : g.nz - 1 - work.plane;
    lines[l] = begin_line<scaled, S, T>(t, v, j, k, space);
  }
  const SweptLine<S, T>& line = lines[0];  // all have the same entries along them
  const auto nearest = [&](int a) { return line.along[a].shift == (lower ? a - line.along_count : line.along_count - a); };
  if (line.along_count == 1 && nearest(0)) {
    run_group<lower, scaled>(lines, work, t.lag, steps, std::integral_constant<int, 1>());
  } else if (line.along_count == 2 && nearest(0) && nearest(1)) {
    run_group<lower, scaled>(lines, work, t.lag, steps, std::integral_constant<int, 2>());
  } else {
    run_group<lower, scaled>(lines, work, t.lag, steps, line.along_count);
  }
}

template <class S, class T>
StructSweepKernels<T> stored_as() {
  const auto lower = [](const StructTriangle& t, const LineWork& work, const SweepVectors<T>& v, void* scratch) {
    t.scaled ? sweep_lines<true, true, S, T>(t, work, v, scratch) : sweep_lines<true, false, S, T>(t, work, v, scratch);
  };
  return {lower, &sweep_lines<false, false, S, T>, {1, step_width}};
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

namespace {
/// A step of both lines then does not wait for what the step before it has just stored.
constexpr int pair_lag = 2;

template <class T>
StructSweepKernels<T> grouped(StructSweepKernels<T> kernels, int lines) {
  kernels.shape.lines = lines;
  kernels.shape.least_lag = lines > 1 ? pair_lag : 0;
  return kernels;
}
}  // namespace

template <>
StructSweepKernels<double> scalar_struct_sweep<double>(Stored stored, int lines) {
  return grouped(HWY_DYNAMIC_DISPATCH(scalar_sweep_double)(stored), lines);
}
template <>
StructSweepKernels<float> scalar_struct_sweep<float>(Stored stored, int lines) {
  return grouped(HWY_DYNAMIC_DISPATCH(scalar_sweep_float)(stored), lines);
}

}  // namespace echelon
#endif
