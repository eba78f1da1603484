// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/dbsr/dbsr_matrix.hpp"

#include <fmt/format.h>
#include <omp.h>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/dbsr/dbsr_product.hpp"

namespace echelon {
namespace {

void require_size(const char* what, std::int64_t got, std::int64_t expected) {
  if (got != expected) throw_size_mismatch(what, got, expected);
}

}  // namespace

template <class T>
double DbsrMatrix<T>::stored_a_nonzero() const {
  if (nonzeros() == 0) return 0;
  const std::int64_t stored = (pattern_->lower.blocks() + pattern_->upper.blocks()) * bsize() + positions();
  return static_cast<double>(stored) / static_cast<double>(nonzeros());
}

template <class T>
std::int64_t DbsrMatrix<T>::bytes() const {
  return pattern_->lower.bytes() + pattern_->upper.bytes() + lower_.bytes() + upper_.bytes() + diagonal_.bytes();
}

template <class T>
DbsrView<T> DbsrMatrix<T>::view() const {
  const auto triangle = [&](const DbsrPattern::Triangle& t, const Array<T>& values) {
    return DbsrTriangleView{t.blk_ptr.data(), t.blk_ind.data(), t.blk_offset.data(), values.data() + bsize()};
  };
  return {bsize(), triangle(pattern_->lower, lower_), triangle(pattern_->upper, upper_), diagonal_.data()};
}

template <class T>
void DbsrMatrix<T>::permute(const Vector<T>& natural, Vector<T>& permuted) const {
  require_size("DBSR: a vector in natural order", natural.size(), rows());
  require_size("DBSR: a vector in positions", permuted.size(), positions());
  const std::int32_t* point = order_->point().data();
  const std::int64_t n = positions();
#pragma omp parallel for schedule(static) num_threads(threads_for(n))
  for (std::int64_t p = 0; p < n; ++p) permuted[p] = point[p] < 0 ? T(0) : natural[point[p]];
}

template <class T>
void DbsrMatrix<T>::permute_back(const Vector<T>& permuted, Vector<T>& natural) const {
  require_size("DBSR: a vector in natural order", natural.size(), rows());
  require_size("DBSR: a vector in positions", permuted.size(), positions());
  const std::int32_t* position = order_->position().data();
  const std::int64_t n = rows();
#pragma omp parallel for schedule(static) num_threads(threads_for(n))
  for (std::int64_t i = 0; i < n; ++i) natural[i] = permuted[position[i]];
}

template <class T>
void DbsrMatrix<T>::multiply(const Vector<T>& x, Vector<T>& y) const {
  require_size("DBSR: x", x.size(), positions());
  require_size("DBSR: y", y.size(), positions());
  if (x.data() == y.data()) throw Error(ErrorCode::bad_argument, "DBSR: x and y are the same vector");
  const auto kernel = dbsr_product<T>(bsize());
  const DbsrView<T> A = view();
  // The rows of guard between the colours have no entries and come out as zeros.
#pragma omp parallel num_threads(threads_for(nonzeros()))
  {
    const auto [begin, end] = share(order_->block_rows(), omp_get_thread_num(), omp_get_num_threads());
    kernel(A, x.data(), y.data(), begin, end);
  }
}

template class DbsrMatrix<double>;
template class DbsrMatrix<float>;

}  // namespace echelon
