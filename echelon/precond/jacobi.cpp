// SPDX-License-Identifier: BSD-3-Clause
// A diagonal block is bad when a pivot of its own elimination is not above 1e-13 of the largest magnitude in its block row,
// or when anything in it is not finite. The scale of the replacement is that magnitude (1 for a zero or non-finite row).
#include "echelon/precond/jacobi.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/base/small_block.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/matrix/spmv.hpp"
#include "echelon/stencil/shapes.hpp"

namespace echelon {
namespace {

constexpr double pivot_tolerance = 1e-13;
constexpr std::size_t notes_kept = 10;

/// What is known of a block row before its diagonal block is inverted.
struct RowScale {
  double largest = 0;  // magnitude over all stored blocks of the row
  bool finite = true;

  template <class T>
  void include(const T* block, std::int64_t count) {
    for (std::int64_t s = 0; s < count; ++s) {
      const double size = std::abs(static_cast<double>(block[s]));
      if (std::isfinite(size)) {
        largest = std::max(largest, size);
      } else {
        finite = false;
      }
    }
  }
};

/// Inverts the diagonal blocks in place; scale(i) looks at block row i of the matrix.
template <class T, class Scale>
void invert_all(Array<T>& diagonal, std::int64_t block_rows, int b, FactorReport& report, Scale scale) {
  const std::int64_t a_block = std::int64_t{b} * b;
  std::vector<int> swaps(static_cast<std::size_t>(b));
  std::vector<double> before(static_cast<std::size_t>(b));
  double change = 0, norm = 0;
  for (std::int64_t i = 0; i < block_rows; ++i) {
    T* block = diagonal.data() + i * a_block;
    for (int r = 0; r < b; ++r) before[r] = block[r * b + r];
    const RowScale row = scale(i);
    norm = std::max(norm, row.largest);
    const double smallest = static_cast<double>(invert<0>(b, block, swaps.data()));
    const bool inverse_finite = std::all_of(block, block + a_block, [](T v) { return std::isfinite(v); });
    if (row.finite && inverse_finite && smallest > pivot_tolerance * row.largest) continue;
    using Kind = PivotNote::Kind;
    const double replacement = row.largest > 0 && std::isfinite(row.largest) ? row.largest : 1;
    std::fill(block, block + a_block, T(0));
    for (int r = 0; r < b; ++r) block[r * b + r] = static_cast<T>(1 / replacement);
    ++report.perturbed_pivots;
    for (int r = 0; r < b; ++r) change = std::max(change, std::abs(replacement - before[r]));
    if (report.bad_pivots.size() < notes_kept) {
      const Kind kind = !row.finite      ? Kind::nonfinite_input
                        : smallest == 0  ? Kind::zero
                        : inverse_finite ? Kind::tiny
                                         : Kind::overflow;
      report.bad_pivots.push_back({i * b, smallest, row.largest, -1, kind});
    }
  }
  if (report.perturbed_pivots > 0) {
    report.perturbation = norm > 0 ? change / norm : change;
    report.message = fmt::format("{} diagonal blocks were replaced by their row scale, the first in row {}",
                                 report.perturbed_pivots, Ordinal{report.bad_pivots.front().row});
    report.remarks.push_back(report.message);
  }
}

template <class T>
void describe(FactorReport& report, int b, const Array<T>& inverse, std::int64_t nonzeros) {
  report.name = "jacobi";
  report.kind = PrecondKind::diagonal;
  report.block = b;
  report.kernel = shapes::kernel_name(b);
  report.bytes = inverse.bytes();
  report.fill_ratio = nonzeros > 0 ? static_cast<double>(inverse.size()) / static_cast<double>(nonzeros) : 0;
}

}  // namespace

template <class T>
Jacobi<T>::Jacobi(const BlockCsr<T>& A) : block_(A.block()) {
  if (!A.device().is_host()) throw Error(ErrorCode::device, "jacobi: the matrix is on " + A.device().name());
  if (!A.square()) {
    throw Error(ErrorCode::not_square,
                fmt::format("jacobi: the matrix is {} by {}, a square one is needed", A.rows(), A.columns()));
  }
  const Timer timer;
  const auto view = A.view();
  const std::int64_t a_block = std::int64_t{block_} * block_;
  inverse_ = Array<T>(A.block_rows() * a_block, T(0));
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    const auto* end = view.column + view.row_start[i + 1];
    const auto* found = std::lower_bound(view.column + view.row_start[i], end, static_cast<std::int32_t>(i));
    if (found != end && *found == i) {
      std::copy_n(view.values + (found - view.column) * a_block, a_block, inverse_.data() + i * a_block);
    } else {
      ++report_.missing_diagonals;
    }
  }
  invert_all(inverse_, A.block_rows(), block_, report_, [&](std::int64_t i) {
    RowScale row;
    row.include(view.values + view.row_start[i] * a_block, (view.row_start[i + 1] - view.row_start[i]) * a_block);
    return row;
  });
  describe(report_, block_, inverse_, A.nonzeros());
  report_.numeric_seconds = timer.seconds();
}

template <class T>
Jacobi<T>::Jacobi(const StructMatrix<T>& A) : block_(A.dof()) {
  const Timer timer;
  const std::int64_t points = A.grid().points();
  const std::int64_t a_block = std::int64_t{block_} * block_;
  const T* values = A.values().data();
  inverse_ = Array<T>(points * a_block);
  std::copy_n(values + A.layout().at(0, A.stencil().center()) * a_block, points * a_block, inverse_.data());
  invert_all(inverse_, points, block_, report_, [&](std::int64_t point) {
    RowScale row;
    // Blocks of neighbours outside the grid are stored as zero and change nothing.
    for (int e = 0; e < A.stencil().size(); ++e) row.include(values + A.layout().at(point, e) * a_block, a_block);
    return row;
  });
  describe(report_, block_, inverse_, A.nonzeros());
  report_.numeric_seconds = timer.seconds();
}

template <class T>
void Jacobi<T>::apply(const Vector<T>& r, Vector<T>& z) const {
  const std::int64_t n = inverse_.size() / block_;
  if (r.size() != n) throw_size_mismatch("jacobi: r", r.size(), n);
  if (z.size() != n) throw_size_mismatch("jacobi: z", z.size(), n);
  if (!r.device().is_host() || !z.device().is_host()) {
    throw Error(ErrorCode::device,
                fmt::format("mixing places: jacobi is on host, r on {}, z on {}", r.device().name(), z.device().name()));
  }
  if (r.data() == z.data() && n > 0) throw Error(ErrorCode::bad_argument, "jacobi: r and z are the same vector");
  const auto kernel = spmv_kernels<T>().diagonal[shapes::specialised(block_) ? block_ : 0];
#pragma omp parallel num_threads(threads_for(inverse_.size()))
  {
    const auto [begin, end] = share(n / block_, omp_get_thread_num(), omp_get_num_threads());
    kernel(block_, inverse_.data(), {r.data(), z.data(), nullptr}, begin, end);
  }
}

template class Jacobi<double>;
template class Jacobi<float>;

}  // namespace echelon
