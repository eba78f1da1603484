// SPDX-License-Identifier: BSD-3-Clause
// Elimination of scalar stencils, eight points of a line a step, several lines together (struct_factor_scalar.inl). A group
// whose lines have the same neighbours walks them side by side, each `lag` steps behind the one before; other groups, and
// the steps in which not all lines are under way, do one line after the other.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/grid/struct_factor_scalar.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "echelon/factor/grid/struct_factor.hpp"
#include "echelon/factor/grid/struct_factor_scalar.inl"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

/// How far the stencil reaches along a line; `across_only`: with its entries of other lines.
struct Reach {
  std::int64_t left = 0, right = 0;
  Reach(const EliminationPlan& plan, bool across_only) {
    for (int e = 0; e < static_cast<int>(plan.offsets.size()); ++e) {
      if (across_only && e >= plan.along_begin && e < plan.along_end) continue;
      const std::int64_t x = plan.offsets[static_cast<std::size_t>(e)].x;
      left = std::max(left, -x);
      right = std::max(right, x);
    }
  }
};

/// Group steps [begin, end) of `lines` lines from point `base` on.
template <int lines, bool diagonal_only, class T>
void factor_steps(const StructFactorView<T>& view, std::int64_t base, std::int64_t begin, std::int64_t end, bool plain,
                  StructFactorWorkspace<T>& own) {
  const std::int64_t nx = view.grid.nx, lag = lines > 1 ? view.lag : 0, steps = (nx + factor_width - 1) / factor_width;
  // A plain recurrence sees to the ends of its line itself.
  const Reach reach(*view.plan, diagonal_only && plain && nx % factor_width == 0);
  // A whole group ahead, so that each plane is one stream of memory; but not more than the second-level cache keeps.
  constexpr std::int64_t most_ahead = 8192, ahead_on_line = 160;
  const std::int64_t ahead = lines > 1 && lines * nx <= most_ahead ? lines * nx : ahead_on_line;
  for (std::int64_t s = begin; s < end; ++s) {
    const std::int64_t first = s, last = s - lag * (lines - 1);  // of the foremost and the hindmost line
    if (last >= 0 && first < steps) {
      const std::int64_t i0 = last * factor_width, i1 = first * factor_width;
      const StepPlace where{base, i1, nx - lag * factor_width};
      if (i0 >= reach.left && i1 + factor_width + reach.right <= nx) {
        FactorStep<lines, false, T>(view, where, ahead, own).template run<diagonal_only>(plain);
      } else {
        FactorStep<lines, true, T>(view, where, ahead, own).template run<diagonal_only>(plain);
      }
    } else if constexpr (lines > 1) {
      for (int l = 0; l < lines; ++l) {
        const std::int64_t step = s - lag * l;
        if (step >= 0 && step < steps) {
          factor_steps<1, diagonal_only>(view, base + l * nx, step, step + 1, plain, own);
        }
      }
    }
  }
}

template <bool diagonal_only, class T>
void factor_group(const StructFactorView<T>& view, const LineWork& work, StructFactorWorkspace<T>& own) {
  const EliminationPlan& plan = *view.plan;
  const auto shift_of = [&](int e) { return plan.offsets[static_cast<std::size_t>(e)].x; };
  const int up = plan.along_end - plan.center - 1;
  const bool plain = plan.eliminates && plan.center - plan.along_begin == 1 && shift_of(plan.along_begin) == -1 &&
                     (up == 0 || (up == 1 && shift_of(plan.center + 1) == 1));
  const std::int64_t nx = view.grid.nx, steps = (nx + factor_width - 1) / factor_width;
  const auto start = [&](std::int64_t line) { return (work.plane * view.grid.ny + line) * nx; };
  if constexpr (diagonal_only) {
    if (work.lines == lines_together && same_neighbours(view, work)) {
      list_line(view, work.line, work.plane, own);
      return factor_steps<lines_together, true>(view, start(work.line), work.begin, work.end, plain, own);
    }
  }
  for (int l = 0; l < work.lines; ++l) {
    list_line(view, work.line + l, work.plane, own);
    const std::int64_t behind = std::int64_t{view.lag} * l;
    const std::int64_t begin = std::max<std::int64_t>(0, work.begin - behind), end = std::min(steps, work.end - behind);
    factor_steps<1, diagonal_only>(view, start(work.line + l), begin, end, plain, own);
  }
}

/// Where all entries are written, there are streams of memory enough: one line at a time.
template <class T>
StructFactorKernel<T> scalar_factor(bool diagonal_only) {
  if (!diagonal_only) return {&factor_group<false, T>, {1, factor_width}, true, factor_width};
  return {&factor_group<true, T>, {lines_together, factor_width}, true, lines_together * factor_width};
}
StructFactorKernel<double> scalar_factor_double(bool diagonal_only) { return scalar_factor<double>(diagonal_only); }
StructFactorKernel<float> scalar_factor_float(bool diagonal_only) { return scalar_factor<float>(diagonal_only); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(scalar_factor_double);
HWY_EXPORT(scalar_factor_float);

template <>
StructFactorKernel<double> scalar_struct_factor<double>(bool diagonal_only) {
  return HWY_DYNAMIC_DISPATCH(scalar_factor_double)(diagonal_only);
}
template <>
StructFactorKernel<float> scalar_struct_factor<float>(bool diagonal_only) {
  return HWY_DYNAMIC_DISPATCH(scalar_factor_float)(diagonal_only);
}

}  // namespace echelon
#endif
