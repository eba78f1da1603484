// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/grid/struct_factor.hpp"

#include <algorithm>
#include <limits>

#include "echelon/factor/pivots/factor_bounds.hpp"

namespace echelon {

EliminationPlan::EliminationPlan(const Stencil& stencil)
    : offsets(stencil.offsets().begin(), stencil.offsets().end()), center(stencil.center()) {
  const int entries = stencil.size();
  first.assign(1, 0);
  diagonal_only = true;
  for (int t = 0; t < entries; ++t) {
    for (int m = 0; m < center; ++m) {
      const Offset& a = offsets[static_cast<std::size_t>(m)];
      const Offset& o = offsets[static_cast<std::size_t>(t)];
      const int u = stencil.find({o.x - a.x, o.y - a.y, o.z - a.z});
      if (u > center) pair.push_back({m, u});
      if (u > center && t != center) diagonal_only = false;
    }
    first.push_back(static_cast<std::int32_t>(pair.size()));
  }
  const auto own_line = [&](int e) {
    const Offset& o = offsets[static_cast<std::size_t>(e)];
    return o.y == 0 && o.z == 0;
  };
  along_begin = along_end = center;
  while (along_begin > 0 && own_line(along_begin - 1)) --along_begin;
  while (along_end < entries && own_line(along_end)) ++along_end;
  for (int e = along_end; e < entries; ++e) across_up.push_back(e);
  std::ranges::stable_sort(across_up, std::ranges::greater{}, [&](int e) { return offsets[static_cast<std::size_t>(e)].x; });
}

EliminationPlan EliminationPlan::without_products(const Stencil& stencil) {
  EliminationPlan plan(stencil);
  plan.pair.clear();
  std::ranges::fill(plan.first, 0);
  plan.diagonal_only = true;
  plan.eliminates = false;
  return plan;
}

template <class T>
double inverse_bound(std::span<const StructFactorWorkspace<T>> threads) {
  FactorBounds bounds;
  double scaled = 0, poison = 0;
  for (const auto& own : threads) {
    for (int lane = 0; lane < 8; ++lane) {
      bounds.lower = std::max<double>(bounds.lower, own.lower_sums[lane]);
      scaled = std::max<double>(scaled, own.scaled_lower_sums[lane]);
      bounds.upper = std::max<double>(bounds.upper, own.upper_sums[lane]);
      bounds.inverse = std::max<double>(bounds.inverse, own.inverses[lane]);
      poison += own.poison[lane];
    }
  }
  bounds.lower = std::min(bounds.lower, scaled);
  bounds.finite = poison == 0;
  return bounds.of_inverse();
}

template <class T>
void list_line(const StructFactorView<T>& view, std::int64_t j, std::int64_t k, StructFactorWorkspace<T>& own) {
  const EliminationPlan& plan = *view.plan;
  const Grid& g = view.grid;
  const auto inside = [&](const Offset& o) { return j + o.y >= 0 && j + o.y < g.ny && k + o.z >= 0 && k + o.z < g.nz; };
  const std::size_t entries = plan.offsets.size();
  bool same = own.targets.size() == entries && own.listed_for == &view;
  for (std::size_t e = 0; same && e < entries; ++e) same = own.targets[e].there == inside(plan.offsets[e]);
  if (same) return;
  own.listed_for = &view;
  own.targets.clear();
  own.pairs.clear();
  const std::int64_t bb = std::int64_t{view.block} * view.block;
  const auto distance = [&](const Offset& o) { return ((o.z * g.ny + o.y) * g.nx + o.x) * bb; };
  for (std::size_t e = 0; e < entries; ++e) {
    const Offset& o = plan.offsets[e];
    LineTarget<T> t;
    t.there = inside(o);
    t.shift = o.x;
    t.A = view.A[e];
    t.F = plan.diagonal_only ? nullptr : view.F[e];
    t.inverse = view.inverse + distance(o);
    t.first = t.along = static_cast<std::int32_t>(own.pairs.size());
    for (const auto [m, u] : plan.pairs(static_cast<int>(e))) {
      const Offset& a = plan.offsets[static_cast<std::size_t>(m)];
      if (!inside(a)) continue;
      const T* U = plan.diagonal_only ? view.A[u] : view.F[u];
      own.pairs.push_back({m, a.x, U + distance(a)});
      if (m < plan.along_begin) t.along = static_cast<std::int32_t>(own.pairs.size());
    }
    t.last = static_cast<std::int32_t>(own.pairs.size());
    own.targets.push_back(t);
  }
}

template <class T>
bool same_neighbours(const StructFactorView<T>& view, const LineWork& work) {
  // Lines between the first and the last have what both have, and lack what both lack.
  const auto inside = [&](std::int64_t line) { return line >= 0 && line < view.grid.ny; };
  return std::ranges::all_of(view.plan->offsets, [&](const Offset& o) {
    return inside(work.line + o.y) == inside(work.line + work.lines - 1 + o.y);
  });
}

template double inverse_bound(std::span<const StructFactorWorkspace<double>>);
template double inverse_bound(std::span<const StructFactorWorkspace<float>>);
template bool same_neighbours(const StructFactorView<double>&, const LineWork&);
template bool same_neighbours(const StructFactorView<float>&, const LineWork&);
template void list_line(const StructFactorView<double>&, std::int64_t, std::int64_t, StructFactorWorkspace<double>&);
template void list_line(const StructFactorView<float>&, std::int64_t, std::int64_t, StructFactorWorkspace<float>&);

}  // namespace echelon
