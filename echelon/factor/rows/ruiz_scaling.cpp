// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/rows/ruiz_scaling.hpp"

#include <algorithm>
#include <cmath>

#include "echelon/base/work_watch.hpp"

namespace echelon {
namespace {

void set_size(Array<double>& values, std::int64_t n) {
  if (values.size() != n) values = Array<double>(n);
  values.fill(1);
}

/// visit(f) calls f(row, column, value) for every entry.
template <class Visit>
void rounds(std::int64_t rows, std::int64_t columns, const Visit& visit, RuizScaling& scaling, const RuizOptions& options) {
  set_size(scaling.row, rows);
  set_size(scaling.column, columns);
  Array<double> row_largest(rows), column_largest(columns);
  scaling.rounds = 0;
  const auto worst = [](const Array<double>& largest) {
    double deviation = 0;
    for (const double value : largest) {
      if (value > 0) deviation = std::max(deviation, std::abs(1 - value));
    }
    return deviation;
  };
  while (true) {
    keep_going(8 * (rows + columns));
    row_largest.fill(0);
    column_largest.fill(0);
    visit([&](std::int64_t i, std::int64_t j, double value) {
      // In this order the quotient of a symmetric matrix is the same for (i, j) and (j, i).
      const double size = std::abs(value) / (scaling.row[i] * scaling.column[j]);
      if (!std::isfinite(size)) return;
      row_largest[i] = std::max(row_largest[i], size);
      column_largest[j] = std::max(column_largest[j], size);
    });
    scaling.deviation = std::max(worst(row_largest), worst(column_largest));
    scaling.converged = scaling.deviation <= options.tolerance;
    if (scaling.converged || scaling.rounds == options.most_rounds) return;
    for (std::int64_t i = 0; i < rows; ++i) {
      if (row_largest[i] > 0) scaling.row[i] *= std::sqrt(row_largest[i]);
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      if (column_largest[j] > 0) scaling.column[j] *= std::sqrt(column_largest[j]);
    }
    ++scaling.rounds;
  }
}

template <class T, class Visit>
void visit_block(int b, std::int64_t row, std::int64_t column, const T* values, const Visit& visit) {
  for (int c = 0; c < b; ++c) {
    for (int r = 0; r < b; ++r) visit(row * b + r, column * b + c, static_cast<double>(values[c * b + r]));
  }
}

}  // namespace

template <class T>
void equilibrate(const BlockCsr<T>& A, RuizScaling& scaling, const RuizOptions& options) {
  const int b = A.block();
  const auto entries = [&](const auto& visit) {
    for (std::int64_t i = 0; i < A.block_rows(); ++i) {
      for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
        visit_block(b, i, std::int64_t{A.column()[p]}, A.values().data() + p * b * b, visit);
      }
    }
  };
  rounds(A.rows(), A.columns(), entries, scaling, options);
}

template <class T>
void equilibrate(const TriangleView<T>& triangle, const T* diagonal, RuizScaling& scaling, const RuizOptions& options) {
  const int b = triangle.block;
  const auto entries = [&](const auto& visit) {
    for (std::int64_t s = 0; s < triangle.rows(); ++s) {
      const auto i = triangle.row_at(s);
      for_entries(triangle, s, [&](std::int64_t j, const T* values) { visit_block(b, i, j, values, visit); });
      if (diagonal) {
        visit_block(b, i, i, diagonal + i * b * b, visit);
      } else {
        for (int c = 0; c < b; ++c) visit(i * b + c, i * b + c, 1.0);
      }
    }
  };
  rounds(triangle.rows() * b, triangle.rows() * b, entries, scaling, options);
}

template <class T>
BlockCsr<T> scaled(const BlockCsr<T>& A, const RuizScaling& scaling) {
  BlockCsr<T> result = A.clone();
  const int b = A.block();
  T* values = result.values().data();
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
      for (int c = 0; c < b; ++c) {
        for (int r = 0; r < b; ++r) {
          T& value = values[p * b * b + c * b + r];
          value = static_cast<T>(value / (scaling.row[i * b + r] * scaling.column[A.column()[p] * b + c]));
        }
      }
    }
  }
  return result;
}

template void equilibrate(const BlockCsr<double>&, RuizScaling&, const RuizOptions&);
template void equilibrate(const BlockCsr<float>&, RuizScaling&, const RuizOptions&);
template void equilibrate(const TriangleView<double>&, const double*, RuizScaling&, const RuizOptions&);
template void equilibrate(const TriangleView<float>&, const float*, RuizScaling&, const RuizOptions&);
template BlockCsr<double> scaled(const BlockCsr<double>&, const RuizScaling&);
template BlockCsr<float> scaled(const BlockCsr<float>&, const RuizScaling&);

}  // namespace echelon
