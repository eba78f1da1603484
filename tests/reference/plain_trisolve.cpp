// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/plain_trisolve.hpp"

#include <Eigen/Dense>

namespace echelon::reference {
namespace {

Eigen::MatrixXd matrix(const Dense& A) {
  const auto n = static_cast<Eigen::Index>(A.size());
  Eigen::MatrixXd M(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) M(i, j) = A[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  }
  return M;
}

std::vector<double> list(const Eigen::VectorXd& x) { return {x.data(), x.data() + x.size()}; }

}  // namespace

Dense dense(const BlockCsr<double>& A, bool unit) {
  const auto n = static_cast<std::size_t>(A.rows());
  Dense full(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      full[i][j] = A.at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)) + (unit && i == j ? 1 : 0);
    }
  }
  return full;
}

std::vector<double> times(const Dense& A, const std::vector<double>& x) {
  std::vector<double> y(A.size(), 0.0);
  for (std::size_t i = 0; i < A.size(); ++i) {
    for (std::size_t j = 0; j < A.size(); ++j) y[i] += A[i][j] * x[j];
  }
  return y;
}

std::vector<double> solve_exactly(const Dense& T, bool, const std::vector<double>& b) {
  return list(matrix(T).fullPivLu().solve(Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(b.size()))));
}

std::vector<double> iterate(const Dense& T, bool lower, int size, const TrisolveOptions& options, int sweeps,
                            const std::vector<double>& b) {
  const Eigen::MatrixXd M = matrix(T);
  const auto n = M.rows(), width = static_cast<Eigen::Index>(size) * options.rows_a_block;
  // Blocks of rows are counted from the end that the sweep starts at.
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const auto block_of = [&](Eigen::Index at) { return (lower ? at : n - 1 - at) / width; };
      if (block_of(i) == block_of(j)) D(i, j) = M(i, j);
    }
  }
  const Eigen::PartialPivLU<Eigen::MatrixXd> by_D(D);
  const Eigen::VectorXd right = Eigen::Map<const Eigen::VectorXd>(b.data(), n);
  Eigen::VectorXd y = Eigen::VectorXd::Zero(n);
  if (options.method == Trisolve::neumann) {
    Eigen::VectorXd term = by_D.solve(right);
    for (int k = 0; k < sweeps; ++k) {
      y += term;
      term = -by_D.solve(((M - D) * term).eval());
    }
    return list(y);
  }
  for (int k = 0; k < sweeps; ++k) y += options.damping * by_D.solve((right - M * y).eval());
  return list(y);
}

}  // namespace echelon::reference
