// SPDX-License-Identifier: BSD-3-Clause
// A case as Eigen's row-major sparse matrix, 32-bit indices; only Eigen's contenders see this.
#pragma once

#include <fmt/format.h>

#include <Eigen/Sparse>
#include <algorithm>

#include "bench/measure/bench_case.hpp"
#include "bench/measure/contender_line.hpp"
#include "bench/measure/row_slab.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon::bench {

using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using EigenVector = Eigen::VectorXd;

inline std::string eigen_name() {
  return fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

/// Blocks of size 1.
inline EigenMatrix to_eigen(const BlockCsr<double>& A) {
  Array<int> start(A.rows() + 1);
  std::ranges::copy(A.row_start(), start.begin());
  return Eigen::Map<const EigenMatrix>(A.rows(), A.rows(), A.nonzeros(), start.data(), A.column().data(), A.values().data());
}

inline EigenMatrix to_eigen(const RowSlab& rows) {
  return Eigen::Map<const EigenMatrix>(rows.rows, rows.rows, rows.values.size(), rows.row_start.data(), rows.column.data(),
                                       rows.values.data());
}

inline EigenVector to_eigen(const Vector<double>& v) { return Eigen::Map<const EigenVector>(v.data(), v.size()); }

inline Vector<double> from_eigen(const EigenVector& v) {
  Vector<double> copy(v.size());
  std::copy_n(v.data(), v.size(), copy.data());
  return copy;
}

}  // namespace echelon::bench
