// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/dbsr/dbsr_gauss_seidel.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/base/threads.hpp"

namespace echelon {

namespace {
template <class T>
constexpr Stored own_kind = sizeof(T) == 8 ? Stored::fp64 : Stored::fp32;
}

DbsrInjection::DbsrInjection(const BlockColouring& order, std::span<const std::int32_t> fine)
    : size_(static_cast<std::int64_t>(fine.size())), positions_(order.positions()) {
  const std::int64_t bsize = order.bsize();
  Array<std::int32_t> place(positions_, std::int32_t{-1});
  for (std::int64_t c = 0; c < size_; ++c) {
    const std::int32_t at = fine[static_cast<std::size_t>(c)];
    if (at < 0) continue;
    if (at >= positions_ || place[at] >= 0) {
      throw Error(ErrorCode::bad_argument, fmt::format("residual at chosen points: place {} wants position {} of {}{}", c, at,
                                                       positions_, at < positions_ ? ", as another place does" : ""));
    }
    place[at] = static_cast<std::int32_t>(c);
  }
  std::vector<std::int32_t> rows;
  for (std::int64_t row = 0; row < order.block_rows(); ++row) {
    const std::int32_t* own = place.data() + row * bsize;
    if (std::any_of(own, own + bsize, [](std::int32_t p) { return p >= 0; })) rows.push_back(static_cast<std::int32_t>(row));
  }
  rows_ = Array<std::int32_t>(static_cast<std::int64_t>(rows.size()));
  places_ = Array<std::int32_t>(rows_.size() * bsize);
  std::copy(rows.begin(), rows.end(), rows_.begin());
  for (std::int64_t n = 0; n < rows_.size(); ++n) {
    std::copy_n(place.data() + rows_[n] * bsize, bsize, places_.data() + n * bsize);
  }
}

template <class T>
DbsrGaussSeidel<T>::DbsrGaussSeidel(const StructMatrix<T>& A, std::shared_ptr<const BlockColouring> order)
    : A_(A, std::move(order)), inverse_(A_.positions()) {
  invert();
}
template <class T>
DbsrGaussSeidel<T>::DbsrGaussSeidel(const BlockCsr<T>& A, std::shared_ptr<const BlockColouring> order)
    : A_(A, std::move(order)), inverse_(A_.positions()) {
  invert();
}
template <class T>
void DbsrGaussSeidel<T>::refresh(const StructMatrix<T>& A) {
  A_.refresh(A);
  invert();
}
template <class T>
void DbsrGaussSeidel<T>::refresh(const BlockCsr<T>& A) {
  A_.refresh(A);
  invert();
}

template <class T>
void DbsrGaussSeidel<T>::invert() {
  const auto point = A_.order().point();
  const auto diagonal = A_.diagonal();
  std::int64_t bad = A_.rows();
#pragma omp parallel for schedule(static) reduction(min : bad) num_threads(threads_for(A_.positions()))
  for (std::int64_t p = 0; p < A_.positions(); ++p) {
    const auto at = static_cast<std::size_t>(p);
    inverse_[p] = point[at] < 0 ? T(0) : T(1) / diagonal[at];
    if (point[at] >= 0 && !(std::isfinite(inverse_[p]) && std::isfinite(diagonal[at])))
      bad = std::min<std::int64_t>(bad, point[at]);
  }
  if (bad == A_.rows()) return;
  throw Error(ErrorCode::bad_argument,
              fmt::format("Gauss-Seidel divides by the diagonal: row {} has {} there (0 where it has none)", Ordinal{bad},
                          diagonal[static_cast<std::size_t>(A_.order().position()[static_cast<std::size_t>(bad)])]));
}

template <class T>
void DbsrGaussSeidel<T>::check(const Vector<T>& r, const Vector<T>& half, const Vector<T>& x) const {
  const std::int64_t n = A_.positions();
  if (r.size() != n) throw_size_mismatch("Gauss-Seidel: r", r.size(), n);
  if (half.size() != n) throw_size_mismatch("Gauss-Seidel: half", half.size(), n);
  if (x.size() != n) throw_size_mismatch("Gauss-Seidel: x", x.size(), n);
  if (r.data() == x.data() || r.data() == half.data() || half.data() == x.data()) {
    throw Error(ErrorCode::bad_argument, "Gauss-Seidel: r, half and x must be three vectors");
  }
}

template <class T>
DbsrSweepView<T> DbsrGaussSeidel<T>::view(const Vector<T>& r, Vector<T>& half, T* x) const {
  const DbsrView<T> A = A_.view();
  return {A.lower, A.upper, inverse_.data(), r.data(), x, half.data()};
}

template <class T>
void DbsrGaussSeidel<T>::run(ColourOrder direction, typename DbsrSweepKernels<T>::Rows kernel,
                             const DbsrSweepView<T>& view) const {
  run_colours(A_.order(), direction, threads_for(A_.nonzeros() / 2), kernel, view);
}

/// Guards of a vector that comes from outside.
template <class T>
void clear_guards(const BlockColouring& order, Vector<T>& x) {
  const std::int64_t bsize = order.bsize();
  std::fill_n(x.data(), bsize, T(0));
  for (const auto& colour : order.colours()) std::fill_n(x.data() + colour.end * bsize, bsize, T(0));
}

template <class T>
void DbsrGaussSeidel<T>::from_zero(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const {
  check(r, half, x);
  clear_guards(A_.order(), x);
  clear_guards(A_.order(), half);
  const auto kernels = dbsr_sweep_kernels<T>(A_.bsize(), own_kind<T>);
  DbsrSweepView<T> v = view(r, half, x.data());
  run(ColourOrder::ascending, kernels.forward_zero, v);
  v.r = half.data();
  run(ColourOrder::descending, kernels.upper, v);
}

template <class T>
void DbsrGaussSeidel<T>::from_guess(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const {
  check(r, half, x);
  clear_guards(A_.order(), x);
  clear_guards(A_.order(), half);
  const auto kernels = dbsr_sweep_kernels<T>(A_.bsize(), own_kind<T>);
  DbsrSweepView<T> v = view(r, half, x.data());
  run(ColourOrder::ascending, kernels.forward_guess, v);
  v.r = half.data();
  run(ColourOrder::descending, kernels.upper, v);
}

template <class T>
void DbsrGaussSeidel<T>::residual_after_zero(const Vector<T>& r, Vector<T>& half, const Vector<T>& x) const {
  check(r, half, x);
  const auto kernels = dbsr_sweep_kernels<T>(A_.bsize(), own_kind<T>);
  const DbsrSweepView<T> v = view(r, half, const_cast<T*>(x.data()));  // read only
#pragma omp parallel num_threads(threads_for(A_.nonzeros() / 2))
  {
    const auto [begin, end] = share(A_.order().block_rows(), omp_get_thread_num(), omp_get_num_threads());
    kernels.residual(v, begin, end);
  }
}

template <class T>
void DbsrGaussSeidel<T>::coarse_residual_after_zero(const Vector<T>& r, Vector<T>& half, const Vector<T>& x,
                                                    const DbsrInjection& to, Vector<T>& coarse) const {
  check(r, half, x);
  if (to.positions() != A_.positions()) throw_size_mismatch("Gauss-Seidel: chosen points", to.positions(), A_.positions());
  if (coarse.size() != to.size()) throw_size_mismatch("Gauss-Seidel: coarse", coarse.size(), to.size());
  const auto kernels = dbsr_sweep_kernels<T>(A_.bsize(), own_kind<T>);
  const DbsrSweepView<T> v = view(r, half, const_cast<T*>(x.data()));  // read only
  const auto rows = to.block_rows(), places = to.places();
  const std::int64_t bsize = A_.bsize(), count = std::ssize(rows);
  const std::int64_t work = A_.nonzeros() / 2 * count / std::max<std::int64_t>(1, A_.order().block_rows());
#pragma omp parallel num_threads(threads_for(work))
  {
    const auto [begin, end] = share(count, omp_get_thread_num(), omp_get_num_threads());
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t row = rows[static_cast<std::size_t>(n)];
      kernels.residual(v, row, row + 1);
      for (std::int64_t lane = 0; lane < bsize; ++lane) {
        const std::int32_t place = places[static_cast<std::size_t>(n * bsize + lane)];
        if (place >= 0) coarse[place] = half[row * bsize + lane];
      }
    }
  }
}

template class DbsrGaussSeidel<double>;
template class DbsrGaussSeidel<float>;

}  // namespace echelon
