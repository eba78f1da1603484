// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/rows/triangular_solve.hpp"

#include <fmt/format.h>

#include "echelon/sweep/rows/rows_together.hpp"

namespace echelon {

template <class T>
TriangularSolve<T>::TriangularSolve(const Triangles<T>& factors, int threads)
    : threads_(threads), block_(factors.block), kernels_(sweep_kernels<T>(factors.block, factors.lower.narrow)) {
  if (factors.block > 1) return;
  const auto runs = sweep_kernels_together<T>(factors.lower.narrow);
  lower_together_ = rows_together(factors.lower, TriangleSide::lower);
  upper_together_ = rows_together(factors.upper, TriangleSide::upper);
  if (!lower_together_.empty()) kernels_.lower = runs.lower;
  if (!upper_together_.empty()) kernels_.upper = runs.upper;
}

template <class T>
void TriangularSolve<T>::fit(Scratch& scratch) const {
  const std::int64_t size = std::int64_t{threads_} * block_;
  if (scratch.progress.threads() != threads_) scratch.progress = SweepProgress(threads_);
  if (scratch.rows.size() != size) scratch.rows = Array<T>(size);
}

template <class T>
void TriangularSolve<T>::run(const Side& side, const Triangles<T>& factors, const SweepPlan& plan, Scratch& scratch,
                             const T* r, T* x) const {
  const SweepView<T> view{factors.rows,
                          factors.block,
                          side.triangle.start.data(),
                          with_distances(side.triangle, [](const auto* d) { return static_cast<const void*>(d); }),
                          side.values.data(),
                          factors.inverse_diagonal.data(),
                          r,
                          x,
                          side.together.data()};
  run_plan(plan, scratch.progress, [&](std::int64_t begin, std::int64_t end, int thread) {
    side.kernel(view, begin, end, scratch.rows.data() + std::int64_t{thread} * factors.block);
  });
}

template <class T>
void TriangularSolve<T>::lower(const Triangles<T>& factors, const SweepPlan& plan, Scratch& scratch, const T* r,
                               T* x) const {
  run({factors.lower, factors.lower_values, lower_together_, kernels_.lower}, factors, plan, scratch, r, x);
}

template <class T>
void TriangularSolve<T>::upper(const Triangles<T>& factors, const SweepPlan& plan, Scratch& scratch, T* x) const {
  run({factors.upper, factors.upper_values, upper_together_, kernels_.upper}, factors, plan, scratch, x, x);
}

template <class T>
std::string TriangularSolve<T>::kernel_name(int block) const {
  return fmt::format("{}b={}{}", block > 8 ? "generic " : "", block, rows_go_together() ? ", equal rows together" : "");
}

template class TriangularSolve<double>;
template class TriangularSolve<float>;

}  // namespace echelon
