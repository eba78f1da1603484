// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/dbsr/dbsr_factors.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"

namespace echelon {

template <class T>
DbsrFactors<T>::DbsrFactors(std::shared_ptr<const BlockColouring> order, std::shared_ptr<const DbsrPattern> pattern)
    : order_(std::move(order)), pattern_(std::move(pattern)), plan_(*order_, *pattern_) {
  make_room();
  const std::int64_t team = threads(), lines = 64 / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t row = (2 * plan_.longest_row() * order_->bsize() + 2 * lines - 1) / lines * lines;
  rows_ = Array<T>(team * row);
  workspaces_.resize(static_cast<std::size_t>(team));
  for (std::int64_t t = 0; t < team; ++t) {
    auto& own = workspaces_[static_cast<std::size_t>(t)];
    own.factors = rows_.data() + t * row;
    own.met.resize(static_cast<std::size_t>(2 * plan_.longest_row()));
  }
}

template <class T>
void DbsrFactors<T>::make_room() {
  if (!inverse_.empty()) return;
  const std::int64_t bsize = order_->bsize();
  const std::int64_t values = (pattern_->lower.blocks() + pattern_->upper.blocks() + 4) * bsize + order_->positions();
  require_memory(values * static_cast<std::int64_t>(sizeof(T)), fmt::format("factors in diagonal block rows of {}", bsize));
  lower_ = Array<T>((pattern_->lower.blocks() + 2) * bsize, T(0));
  upper_ = Array<T>((pattern_->upper.blocks() + 2) * bsize, T(0));
  inverse_ = Array<T>(order_->positions(), T(0));
}

template <class T>
void DbsrFactors<T>::attempt(const DbsrMatrix<T>& A, PivotRules rules) {
  make_room();
  for (auto* kept : {&narrow_lower_, &narrow_upper_, &narrow_inverse_}) *kept = Array<float>();
  scale_ = 1;
  const int bsize = order_->bsize();
  const DbsrFactorView<T> view{
      A.view(),      pattern_->lower.lanes.data(), pattern_->upper.lanes.data(), order_->point().data(), plan_.words(),
      plan_.start(), lower_.data() + bsize,        upper_.data() + bsize,        inverse_.data(),        rules};
  for (auto& own : workspaces_) own.norm = own.change = 0, own.bounds = {};
  const auto kernel = dbsr_factor_kernel<T>(bsize);
  const int team = std::min<int>(threads_for(plan_.operations() + pattern_->nonzeros), static_cast<int>(workspaces_.size()));
  const std::int64_t a_row = (plan_.operations() + pattern_->nonzeros) / std::max<std::int64_t>(1, order_->block_rows()) + 1;
  // A part at a time is walked in slices, so that a thread told to stop does.
  constexpr std::int64_t slice = 1024;
  SharedWork shared;
#pragma omp parallel num_threads(team)
  {
    const int part = omp_get_thread_num(), parts = omp_get_num_threads();
    auto& own = workspaces_[static_cast<std::size_t>(part)];
    for (const auto& colour : order_->colours()) {
      const auto [begin, end] = order_->rows(colour, part, parts);
      for (std::int64_t row = begin; row < end; row += slice) {
        const std::int64_t last = std::min(row + slice, end);
        if (!shared.goes_on(a_row * (last - row))) break;
        kernel(view, row, last, own);
      }
#pragma omp barrier
    }
  }
  shared.finish();
  double change = 0;
  norm_ = 0;
  bounds_ = {};
  for (const auto& own : workspaces_) {
    change = std::max(change, own.change);
    norm_ = std::max(norm_, own.norm);
    bounds_.include(own.bounds);
  }
  rules.log->record_change(change, norm_);
}

template <class T>
std::int64_t DbsrFactors<T>::narrow() {
  if (sizeof(T) <= sizeof(float)) return 0;
  scale_ = T(1);
  if (norm_ > 0 && std::isfinite(norm_))
    scale_ = static_cast<T>(std::ldexp(1.0, std::clamp(-std::ilogb(norm_), -1000, 1000)));
  std::int64_t lost = 0;
  const auto rounded = [&](const Array<T>& wide, T times) {
    Array<float> narrow(wide.size());
    std::int64_t bad = 0;
#pragma omp parallel for schedule(static) reduction(+ : bad) num_threads(threads_for(wide.size()))
    for (std::int64_t n = 0; n < wide.size(); ++n) {
      narrow[n] = static_cast<float>(wide[n] * times);
      if (std::isfinite(wide[n]) && !std::isfinite(narrow[n])) ++bad;
    }
    lost += bad;
    return narrow;
  };
  narrow_lower_ = rounded(lower_, T(1));
  narrow_upper_ = rounded(upper_, scale_);
  narrow_inverse_ = rounded(inverse_, T(1) / scale_);
  if (lost > 0) {
    for (auto* kept : {&narrow_lower_, &narrow_upper_, &narrow_inverse_}) *kept = Array<float>();
    scale_ = 1;
  } else {
    for (auto* kept : {&lower_, &upper_, &inverse_}) *kept = Array<T>();
  }
  return lost;
}

template <class T>
DbsrTriangleView DbsrFactors<T>::triangle(const DbsrPattern::Triangle& t, const Array<T>& wide,
                                          const Array<float>& narrow) const {
  const int bsize = order_->bsize();
  const void* values = narrow.empty() ? static_cast<const void*>(wide.data() + bsize) : narrow.data() + bsize;
  return {t.blk_ptr.data(), t.blk_ind.data(), t.blk_offset.data(), values};
}
template <class T>
DbsrTriangleView DbsrFactors<T>::lower() const {
  return triangle(pattern_->lower, lower_, narrow_lower_);
}
template <class T>
DbsrTriangleView DbsrFactors<T>::upper() const {
  return triangle(pattern_->upper, upper_, narrow_upper_);
}
template <class T>
const void* DbsrFactors<T>::inverse() const {
  return narrow_inverse_.empty() ? static_cast<const void*>(inverse_.data()) : narrow_inverse_.data();
}

template <class T>
std::int64_t DbsrFactors<T>::bytes() const {
  return pattern_->lower.bytes() + pattern_->upper.bytes() + lower_.bytes() + upper_.bytes() + inverse_.bytes() +
         narrow_lower_.bytes() + narrow_upper_.bytes() + narrow_inverse_.bytes() + plan_.bytes() + order_->bytes();
}

template class DbsrFactors<double>;
template class DbsrFactors<float>;

}  // namespace echelon
