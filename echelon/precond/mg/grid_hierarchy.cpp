// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/grid_hierarchy.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "echelon/base/threads.hpp"
#include "echelon/precond/mg/coupling.hpp"
#include "echelon/precond/mg/line_kernels.hpp"

namespace echelon {

namespace {

/// To the last bit.
bool exactly_symmetric(const StructMatrix<double>& A) {
  const Stencil& stencil = A.stencil();
  if (!stencil.symmetric()) return false;
  const auto kernel = mg_setup_kernels().equal;
  const Grid& g = A.grid();
  const double* values = A.values().data();
  const int center = stencil.center(), entries = stencil.size();
  bool same = true;
#pragma omp parallel for num_threads(threads_for(A.nonzeros())) schedule(static) reduction(&& : same)
  for (std::int64_t line = 0; line < g.ny * g.nz; ++line) {
    const std::int64_t j = line % g.ny, k = line / g.ny;
    for (int e = 0; e < center; ++e) {
      const Offset o = stencil.offsets()[static_cast<std::size_t>(e)];
      if (!g.contains(0, j + o.y, k + o.z) || o.x <= -g.nx || o.x >= g.nx) continue;
      const std::int64_t x0 = std::max(0, -o.x);
      const double* here = values + e * g.points() + line * g.nx + x0;
      const double* there = values + (entries - 1 - e) * g.points() + g.index(o.x, j + o.y, k + o.z) + x0;
      same = kernel(here, there, g.nx - std::abs(o.x)) && same;
    }
  }
  return same;
}

}  // namespace

GridHierarchy::GridHierarchy(const StructMatrix<double>& A, const MgOptions& options)
    : finest_(A), symmetric_(exactly_symmetric(A)) {
  while (matrix(steps_.size()).rows() > options.coarsest) {
    const StructMatrix<double>& top = matrix(steps_.size());
    const auto axes = directions_to_coarsen(top, options.strong);
    if (axes.empty()) break;
    std::vector<DirectionStep> steps;
    steps.reserve(axes.size());
    for (const Axis axis : axes) {
      const bool first = steps.empty(), last = axis == axes.back();
      const Grid& grid = first ? top.grid() : steps.back().grid();
      const Stencil& stencil = first ? top.stencil() : steps.back().stencil();
      steps.emplace_back(grid, stencil, axis, last ? 0 : DirectionStep::planes_to_keep(stencil));
    }
    steps_.push_back(std::move(steps));
    multiply(steps_.size() - 1);
  }
}

void GridHierarchy::refresh(const StructMatrix<double>& A) {
  finest_ = A;
  symmetric_ = exactly_symmetric(A);
  for (std::size_t level = 0; level < steps_.size(); ++level) multiply(level);
}

void GridHierarchy::multiply(std::size_t level) { DirectionStep::compute_all(steps_[level], matrix(level), symmetric_); }

const StructMatrix<double>& GridHierarchy::matrix(std::size_t level) const {
  return level == 0 ? finest_ : steps_[level - 1].back().product();
}

std::string GridHierarchy::directions(std::size_t level) const {
  std::string word;
  for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
    const auto is_along = [axis](const DirectionStep& step) { return step.axis() == axis; };
    if (std::ranges::any_of(steps_[level], is_along)) word += "xyz"[static_cast<int>(axis)];
  }
  return word;
}

double GridHierarchy::operator_complexity() const {
  double all = 0;
  for (std::size_t level = 0; level < levels(); ++level) all += static_cast<double>(matrix(level).nonzeros());
  return all / static_cast<double>(std::max<std::int64_t>(1, finest_.nonzeros()));
}

double GridHierarchy::grid_complexity() const {
  double all = 0;
  for (std::size_t level = 0; level < levels(); ++level) all += static_cast<double>(matrix(level).rows());
  return all / static_cast<double>(finest_.rows());
}

}  // namespace echelon
