// SPDX-License-Identifier: BSD-3-Clause
// Storage, filling, product and conversions of a structured matrix. Points are shared out to threads in equal parts; a
// point's rows are computed whole by one thread.
#include "echelon/matrix/grid/struct_matrix.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/spmv.hpp"
#include "echelon/matrix/vector_checks.hpp"

namespace echelon {
namespace {

std::string shape(const Grid& grid, const Stencil& stencil, int dof) {
  return fmt::format("a matrix on the grid {}x{}x{} with the {} entries of '{}' and {} unknowns a point", grid.nx, grid.ny,
                     grid.nz, stencil.size(), stencil.name(), dof);
}

/// Scalars to store, after all checks that must come before allocation.
std::int64_t checked_size(const Grid& grid, const Stencil& stencil, int dof, std::int64_t scalar_bytes) {
  if (grid.nx < 1 || grid.ny < 1 || grid.nz < 1 || dof < 1) {
    throw Error(ErrorCode::bad_argument, shape(grid, stencil, dof) + ": sides and unknowns must be at least 1");
  }
  std::int64_t scalars = 1, bytes = 0;
  for (const std::int64_t factor :
       {grid.nx, grid.ny, grid.nz, std::int64_t{stencil.size()}, std::int64_t{dof}, std::int64_t{dof}}) {
    if (__builtin_mul_overflow(scalars, factor, &scalars)) scalars = std::numeric_limits<std::int64_t>::max();
  }
  if (__builtin_mul_overflow(scalars, scalar_bytes, &bytes)) bytes = std::numeric_limits<std::int64_t>::max();
  require_memory(bytes, shape(grid, stencil, dof));
  return scalars;
}

struct Point {
  std::int64_t i, j, k;
};

Point coordinates(const Grid& grid, std::int64_t point) {
  return {point % grid.nx, point / grid.nx % grid.ny, point / grid.nx / grid.ny};
}

bool has_neighbour(const Grid& grid, const Point& p, const Offset& o) {
  return grid.contains(p.i + o.x, p.j + o.y, p.k + o.z);
}

template <class T>
void run_points(const StructMatrix<T>& A, const SpmvVectors<T>& v) {
  const auto kernel = spmv_kernels<T>().points[shapes::specialised(A.dof()) ? A.dof() : 0];
  const StructView<T> view{A.grid(), A.stencil().offsets(), A.dof(), A.values().data()};
#pragma omp parallel num_threads(threads_for(A.nonzeros() + A.rows()))
  {
    const auto [begin, end] = share(view.grid.points(), omp_get_thread_num(), omp_get_num_threads(), 8);
    if (begin < end) kernel(view, v, begin, end);
  }
}

}  // namespace

template <class T>
StructMatrix<T>::StructMatrix(Grid grid, Stencil stencil, int dof)
    : grid_(grid),
      stencil_(std::move(stencil)),
      dof_(dof),
      layout_(Layout::user({}, 0)),
      values_(std::make_shared<Array<T>>(checked_size(grid, stencil_, dof, sizeof(T)))) {
  layout_ = Layout::user(grid_, stencil_.size(), dof_, sizeof(T));
  T* values = values_->data();
#pragma omp parallel num_threads(threads_for(values_->size()))
  {
    const auto [begin, end] = share(values_->size(), omp_get_thread_num(), omp_get_num_threads());
    std::fill(values + begin, values + end, T(0));
  }
}

template <class T>
Array<T>& StructMatrix<T>::own() {
  if (values_.use_count() > 1) values_ = std::make_shared<Array<T>>(values_->clone());
  return *values_;
}

template <class T>
void StructMatrix<T>::fill(const Fill& function) {
  std::exception_ptr failure;
  own();  // before there are threads
#pragma omp parallel for num_threads(threads_for(values_->size())) schedule(static)
  for (std::int64_t point = 0; point < grid_.points(); ++point) {
    try {
      const Point p = coordinates(grid_, point);
      for (int e = 0; e < stencil_.size(); ++e) {
        if (has_neighbour(grid_, p, stencil_.offsets()[e])) function(p.i, p.j, p.k, e, block(point, e));
      }
    } catch (...) {
#pragma omp critical(echelon_fill_failure)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

template <class T>
std::int64_t StructMatrix<T>::nonzeros() const {
  return neighbours_inside(grid_, stencil_.offsets()) * dof_ * dof_;
}

template <class T>
std::span<const T> StructMatrix<T>::block(std::int64_t point, int entry) const {
  if (point < 0 || point >= grid_.points() || entry < 0 || entry >= stencil_.size()) {
    throw Error(ErrorCode::index_range, fmt::format("block of point {} and entry {}: there are {} points and {} entries",
                                                    point, entry, grid_.points(), stencil_.size()));
  }
  const std::int64_t a_block = std::int64_t{dof_} * dof_;
  return {values_->data() + layout_.at(point, entry) * a_block, static_cast<std::size_t>(a_block)};
}

template <class T>
std::span<T> StructMatrix<T>::block(std::int64_t point, int entry) {
  T* values = own().data();
  const auto found = std::as_const(*this).block(point, entry);
  return {values + (found.data() - values), found.size()};
}

template <class T>
void StructMatrix<T>::apply(const Vector<T>& x, Vector<T>& y) const {
  check_product({rows(), rows(), Device::host()}, x, y);
  run_points(*this, {x.data(), y.data(), nullptr});
}

template <class T>
void StructMatrix<T>::residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const {
  check_product({rows(), rows(), Device::host()}, x, r);
  check_right_side(b, r);
  run_points(*this, {x.data(), r.data(), b.data()});
}

template <class T>
double StructMatrix<T>::norm_inf() const {
  const auto kernel = spmv_kernels<T>().sizes[shapes::specialised(dof_) ? dof_ : 0];
  const StructView<T> view{grid_, stencil_.offsets(), dof_, values_->data()};
  const int parts = threads_for(values_->size());
  Array<double> sums(parts * grid_.nx * dof_);
  double largest = 0;
  bool has_nan = false;
#pragma omp parallel num_threads(parts) reduction(max : largest) reduction(|| : has_nan)
  {
    const std::int64_t lines = grid_.ny * grid_.nz, scalars = grid_.nx * dof_;
    double* own = sums.data() + omp_get_thread_num() * scalars;
    const auto [begin, end] = share(lines, omp_get_thread_num(), omp_get_num_threads());
    for (std::int64_t line = begin; line < end; ++line) {
      kernel(view, line, own);
      for (std::int64_t s = 0; s < scalars; ++s) {
        largest = std::max(largest, own[s]);
        has_nan = has_nan || std::isnan(own[s]);
      }
    }
  }
  return has_nan ? std::numeric_limits<double>::quiet_NaN() : largest;
}

template <class T>
BlockCsr<T> to_block_csr(const StructMatrix<T>& A) {
  const Grid grid = A.grid();
  const auto offsets = A.stencil().offsets();
  const std::int64_t points = grid.points();
  const std::int64_t a_block = std::int64_t{A.dof()} * A.dof();
  if (points > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::bad_argument, fmt::format("{} grid points: block CSR has 32-bit indices", points));
  }
  require_memory((points + 1) * 8 + A.nonzeros() / a_block * 4 + A.nonzeros() * static_cast<std::int64_t>(sizeof(T)),
                 "the block CSR copy of " + shape(grid, A.stencil(), A.dof()));
  Array<std::int64_t> row_start(points + 1);
  row_start[0] = 0;
#pragma omp parallel for num_threads(threads_for(A.nonzeros())) schedule(static)
  for (std::int64_t point = 0; point < points; ++point) {
    const Point p = coordinates(grid, point);
    row_start[point + 1] =
        std::count_if(offsets.begin(), offsets.end(), [&](const Offset& o) { return has_neighbour(grid, p, o); });
  }
  for (std::int64_t i = 0; i < points; ++i) row_start[i + 1] += row_start[i];
  Array<std::int32_t> column(row_start[points]);
  Array<T> values(row_start[points] * a_block);
#pragma omp parallel for num_threads(threads_for(A.nonzeros())) schedule(static)
  for (std::int64_t point = 0; point < points; ++point) {
    const Point p = coordinates(grid, point);
    std::int64_t to = row_start[point];
    for (int e = 0; e < A.stencil().size(); ++e) {
      const Offset o = offsets[e];
      if (!has_neighbour(grid, p, o)) continue;
      column[to] = static_cast<std::int32_t>(grid.index(p.i + o.x, p.j + o.y, p.k + o.z));
      std::copy_n(A.values().data() + A.layout().at(point, e) * a_block, a_block, values.data() + to++ * a_block);
    }
  }
  return BlockCsr<T>(points, points, A.dof(), std::move(row_start), std::move(column), std::move(values));
}

template <class T>
StructMatrix<T> to_struct(const BlockCsr<T>& A, Grid grid, const Stencil& stencil) {
  if (!A.device().is_host()) throw Error(ErrorCode::device, "to_struct: the matrix is on " + A.device().name());
  if (!A.square())
    throw Error(ErrorCode::not_square, fmt::format("to_struct: the matrix is {} by {}", A.rows(), A.columns()));
  StructMatrix<T> result(grid, stencil, A.block());
  if (A.block_rows() != grid.points()) throw_size_mismatch("block rows for a grid", A.block_rows(), grid.points());
  const auto from = A.view();
  const std::int64_t a_block = std::int64_t{A.block()} * A.block();
  const auto offset_of = [&](const Point& p, std::int64_t e) {
    const Point q = coordinates(grid, from.column[e]);
    // Offsets are ints; a grid side is below 2³¹ because block indices are.
    return Offset{static_cast<int>(q.i - p.i), static_cast<int>(q.j - p.j), static_cast<int>(q.k - p.k)};
  };
  std::int64_t first_bad = A.block_rows();
#pragma omp parallel for num_threads(threads_for(A.nonzeros())) reduction(min : first_bad) schedule(static)
  for (std::int64_t point = 0; point < A.block_rows(); ++point) {
    const Point p = coordinates(grid, point);
    for (std::int64_t e = from.row_start[point]; e < from.row_start[point + 1]; ++e) {
      const int entry = stencil.find(offset_of(p, e));
      if (entry < 0) {
        first_bad = std::min(first_bad, point);
        break;
      }
      std::copy_n(from.values + e * a_block, a_block, result.values().data() + result.layout().at(point, entry) * a_block);
    }
  }
  if (first_bad == A.block_rows()) return result;
  const Point p = coordinates(grid, first_bad);
  std::int64_t e = from.row_start[first_bad];
  while (stencil.find(offset_of(p, e)) >= 0) ++e;
  const Offset o = offset_of(p, e);
  throw Error(
      ErrorCode::structure,
      fmt::format("block column {} is the neighbour ({},{},{}), which the stencil '{}' does not have",
                  Ordinal{from.column[e]}, o.x, o.y, o.z, stencil.name()),
      fmt::format("grid point ({},{},{}), block row {}", Ordinal{p.i}, Ordinal{p.j}, Ordinal{p.k}, Ordinal{first_bad}));
}

template <class T>
double asymmetry(const StructMatrix<T>& A) {
  const auto offsets = A.stencil().offsets();
  if (!A.stencil().symmetric()) return std::numeric_limits<double>::infinity();
  const std::int64_t b = A.dof();
  const int entries = A.stencil().size();
  double largest = 0, difference = 0;
  bool has_nan = false;
#pragma omp parallel for num_threads(threads_for(A.nonzeros())) reduction(max : largest, difference) reduction(|| : has_nan)
  for (std::int64_t point = 0; point < A.grid().points(); ++point) {
    const Point p = coordinates(A.grid(), point);
    for (int e = A.stencil().center(); e < entries; ++e) {
      const Offset o = offsets[e];
      if (!has_neighbour(A.grid(), p, o)) continue;
      // Natural order is antisymmetric, so −o stands where o does from the other end.
      const std::int64_t other = A.grid().index(p.i + o.x, p.j + o.y, p.k + o.z);
      const T* here = A.values().data() + A.layout().at(point, e) * b * b;
      const T* there = A.values().data() + A.layout().at(other, entries - 1 - e) * b * b;
      for (std::int64_t c = 0; c < b; ++c) {
        for (std::int64_t r = 0; r < b; ++r) {
          const double a = here[c * b + r], mirrored = there[r * b + c];
          largest = std::max({largest, std::abs(a), std::abs(mirrored)});
          difference = std::max(difference, std::abs(a - mirrored));
          has_nan = has_nan || std::isnan(a - mirrored);
        }
      }
    }
  }
  if (has_nan) return std::numeric_limits<double>::quiet_NaN();
  return difference == 0 ? 0 : difference / largest;
}

template class StructMatrix<double>;
template class StructMatrix<float>;
template BlockCsr<double> to_block_csr<double>(const StructMatrix<double>&);
template BlockCsr<float> to_block_csr<float>(const StructMatrix<float>&);
template double asymmetry<double>(const StructMatrix<double>&);
template double asymmetry<float>(const StructMatrix<float>&);
template StructMatrix<double> to_struct<double>(const BlockCsr<double>&, Grid, const Stencil&);
template StructMatrix<float> to_struct<float>(const BlockCsr<float>&, Grid, const Stencil&);

}  // namespace echelon
