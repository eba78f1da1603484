// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/grid_hierarchy.hpp"

#include <algorithm>

#include "echelon/precond/mg/coupling.hpp"

namespace echelon {

GridHierarchy::GridHierarchy(const StructMatrix<double>& A, const MgOptions& options)
    : finest_(A), symmetric_(asymmetry(A) == 0) {
  while (matrix(steps_.size()).rows() > options.coarsest) {
    const StructMatrix<double>* from = &matrix(steps_.size());
    const auto axes = directions_to_coarsen(*from, options.strong);
    if (axes.empty()) break;
    std::vector<DirectionStep> steps;
    steps.reserve(axes.size());
    for (const Axis axis : axes) {
      steps.emplace_back(from->grid(), from->stencil(), axis).compute(*from, symmetric_);
      from = &steps.back().product();
    }
    steps_.push_back(std::move(steps));
  }
}

void GridHierarchy::refresh(const StructMatrix<double>& A) {
  finest_ = A;
  symmetric_ = asymmetry(A) == 0;
  for (std::size_t level = 0; level < steps_.size(); ++level) multiply(level);
}

void GridHierarchy::multiply(std::size_t level) {
  const StructMatrix<double>* from = &matrix(level);
  for (DirectionStep& step : steps_[level]) {
    step.compute(*from, symmetric_);
    from = &step.product();
  }
}

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
