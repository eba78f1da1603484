// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/multilevel/cycle.hpp"

#include <utility>

#include "echelon/base/error.hpp"

namespace echelon {

template <class T>
Cycle<T>::Cycle(std::vector<std::unique_ptr<Level<T>>> levels, std::unique_ptr<CoarsestSolve<T>> coarsest, CycleShape shape)
    : levels_(std::move(levels)), coarsest_(std::move(coarsest)), shape_(shape) {
  fit(scratch_.own());
}

template <class T>
std::int64_t Cycle<T>::rows() const {
  return levels_.empty() ? coarsest_->rows() : levels_.front()->rows();
}

template <class T>
void Cycle<T>::fit(Scratch& scratch) const {
  if (!scratch.empty()) return;
  scratch.resize(levels_.size() + 1);
  for (std::size_t l = 0; l <= levels_.size(); ++l) {
    const bool last = l == levels_.size();
    const std::int64_t n = last ? coarsest_->rows() : levels_[l]->rows();
    Work& work = scratch[l];
    if (l > 0) {
      work.r = V(n);
      work.x = V(n);
    }
    if (!last) {
      work.rest = V(n);
      work.spare = V(n);
    }
  }
}

template <class T>
std::int64_t Cycle<T>::bytes() const {
  std::int64_t total = 0;
  for (const Work& work : scratch_.own()) total += work.r.bytes() + work.x.bytes() + work.rest.bytes() + work.spare.bytes();
  return total;
}

template <class T>
void Cycle<T>::apply(const V& r, V& x) const {
  if (r.size() != rows()) throw_size_mismatch("a multilevel cycle: r", r.size(), rows());
  if (x.size() != rows()) throw_size_mismatch("a multilevel cycle: x", x.size(), rows());
  if (r.data() == x.data() && rows() > 0)
    throw Error(ErrorCode::bad_argument, "a multilevel cycle: r and x are the same vector");
  auto scratch = scratch_.take([this](Scratch& spare) { fit(spare); });
  run(0, r, x, *scratch, shape_, true);
}

template <class T>
void Cycle<T>::solve_below(std::size_t level, Scratch& scratch, CycleShape shape) const {
  Work& below = scratch[level + 1];
  run(level + 1, below.r, below.x, scratch, shape, false);
}

template <class T>
void Cycle<T>::run(std::size_t level, const V& r, V& x, Scratch& scratch, CycleShape shape, bool from_zero) const {
  if (level == levels_.size()) {
    if (from_zero) coarsest_->solve(r, x);  // a second visit would find the solution there
    return;
  }
  const Level<T>& own = *levels_[level];
  Work &work = scratch[level], &below = scratch[level + 1];
  if (from_zero) {
    own.descend(r, x, work.rest, work.spare, below.r);
  } else {
    own.descend_again(r, x, work.rest, work.spare, below.r);
  }
  run(level + 1, below.r, below.x, scratch, shape, true);
  if (shape == CycleShape::w) solve_below(level, scratch, CycleShape::w);
  if (shape == CycleShape::f) solve_below(level, scratch, CycleShape::v);
  own.ascend(r, below.x, x, work.rest, work.spare);
}

template class Cycle<double>;
template class Cycle<float>;

}  // namespace echelon
