// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/null_vector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {
namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon() / 2;
/// v'A y sums over all rows: what its errors may add up to beside those of one row.
constexpr double sum_of_all_rows = 16;

/// Σ_j |a_ij| |v_j| and the number of entries, row by row; wide, so that sums of entries near the largest double do not
/// overflow.
using RowVisit = std::function<void(std::int64_t row, std::int64_t entries, long double magnitude)>;

void visit_rows(const BlockCsr<double>& A, const Vector<double>& v, const RowVisit& visit) {
  const auto start = A.row_start();
  const auto column = A.column();
  const auto values = A.values();
  const std::int64_t b = A.block();
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    for (std::int64_t r = 0; r < b; ++r) {
      long double sum = 0;
      for (auto e = start[i]; e < start[i + 1]; ++e) {
        for (std::int64_t c = 0; c < b; ++c) {
          sum += std::fabs(static_cast<long double>(values[(e * b + c) * b + r]) * v[column[e] * b + c]);
        }
      }
      visit(i * b + r, (start[i + 1] - start[i]) * b, sum);
    }
  }
}

void visit_rows(const StructMatrix<double>& A, const Vector<double>& v, const RowVisit& visit) {
  const Grid& grid = A.grid();
  const auto offsets = A.stencil().offsets();
  const std::int64_t b = A.dof();
  std::int64_t point = 0;
  for (std::int64_t k = 0; k < grid.nz; ++k) {
    for (std::int64_t j = 0; j < grid.ny; ++j) {
      for (std::int64_t i = 0; i < grid.nx; ++i, ++point) {
        for (std::int64_t r = 0; r < b; ++r) {
          long double sum = 0;
          std::int64_t entries = 0;
          for (int e = 0; e < A.stencil().size(); ++e) {
            const Offset o = offsets[static_cast<std::size_t>(e)];
            if (!grid.contains(i + o.x, j + o.y, k + o.z)) continue;
            const auto block = A.block(point, e);
            const std::int64_t from = grid.index(i + o.x, j + o.y, k + o.z) * b;
            for (std::int64_t c = 0; c < b; ++c) {
              sum += std::fabs(static_cast<long double>(block[static_cast<std::size_t>(c * b + r)]) * v[from + c]);
            }
            entries += b;
          }
          visit(point * b + r, entries, sum);
        }
      }
    }
  }
}

/// False when A's rows cannot be looked at.
bool visit_rows_of(const Operator<double>& A, const Vector<double>& v, const RowVisit& visit) {
  if (!A.device().is_host()) return false;
  if (const auto* csr = dynamic_cast<const BlockCsr<double>*>(&A)) return visit_rows(*csr, v, visit), true;
  if (const auto* grid = dynamic_cast<const StructMatrix<double>*>(&A)) return visit_rows(*grid, v, visit), true;
  return false;
}

void clear(Vector<double>& v) {
  if (v.device().is_host()) {
    v.fill(0);
  } else {
    cuda_backend()->fill(v.device().index, v.data(), v.size(), 0);
  }
}

}  // namespace

NullVectorFinding judge_null_vector(const Operator<double>& A, const Vector<double>& v, VectorOps& ops,
                                    Vector<double>& product, Vector<double>& zero) {
  clear(zero);
  A.careful_residual(zero, v, product);
  // The row that is furthest from rounding, of those that are too far.
  std::int64_t worst_row = -1;
  double worst = 0, worst_part = 0, allowed = 0;
  const bool by_rows = visit_rows_of(A, v, [&](std::int64_t row, std::int64_t entries, long double magnitude) {
    const double most = null_vector_rounding * static_cast<double>(entries + 1) * rounding;
    const double part = magnitude > 0 ? static_cast<double>(std::fabs(product[row]) / magnitude) : 0;
    if (part / most <= 1 || part / most <= worst) return;
    worst = part / most, worst_part = part, allowed = most, worst_row = row;
  });
  if (by_rows && worst_row < 0) return {};
  if (by_rows) {
    return {false,
            fmt::format("the null vector v is none of this matrix: in row {} |Σ a_ij v_j| is {:.3g} of Σ|a_ij v_j|, and "
                        "at most {:.2g} is rounding; leave the null space out",
                        Ordinal{worst_row}, worst_part, allowed)};
  }
  const double norm = A.norm_inf();
  if (!std::isfinite(norm)) return {};
  const double left = ops.largest(product), whole = norm * ops.largest(v);
  allowed = null_vector_rounding * (entries_of_unknown_rows + 1) * rounding;
  if (left <= allowed * whole) return {};
  return {false,
          fmt::format("the null vector v is none of this matrix: max|A v| is {:.3g} of ‖A‖∞·max|v|, and at most {:.2g} "
                      "is rounding; leave the null space out",
                      left / whole, allowed)};
}

bool is_left_null_vector(const Operator<double>& A, const Vector<double>& v, const Vector<double>& drawn, VectorOps& ops,
                         Vector<double>& product) {
  A.apply(drawn, product);
  const double along = std::fabs(ops.dot(v, product));
  long double whole = 0;
  double entries = entries_of_unknown_rows;
  const bool by_rows = visit_rows_of(A, drawn, [&](std::int64_t row, std::int64_t count, long double magnitude) {
    whole += std::fabs(static_cast<long double>(v[row])) * magnitude;
    entries = std::max(entries, static_cast<double>(count));
  });
  // ‖v‖₁ ≤ √n for a v of unit length.
  if (!by_rows) whole = static_cast<long double>(A.norm_inf()) * std::sqrt(static_cast<long double>(A.rows()));
  if (std::isnan(whole)) return true;  // nothing is known: as symmetric matrices are, which null spaces are given for
  return along <= sum_of_all_rows * null_vector_rounding * (entries + 1) * rounding * static_cast<double>(whole);
}

}  // namespace echelon
