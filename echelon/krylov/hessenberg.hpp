// SPDX-License-Identifier: BSD-3-Clause
// The small least-squares problem of GMRES, min ‖β e₁ − H y‖ for an upper Hessenberg H that grows by a column: each column
// is rotated by the Givens rotations before it and gets one of its own, so the residual norm is known at every step.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace echelon {

class HessenbergLeastSquares {
 public:
  explicit HessenbergLeastSquares(int columns)
      : size_(columns),
        R_(at(0, columns)),
        cosine_(static_cast<std::size_t>(columns)),
        sine_(static_cast<std::size_t>(columns)),
        g_(static_cast<std::size_t>(columns) + 1) {}

  void start(double beta) {
    columns_ = 0;
    g_[0] = beta;
  }
  int columns() const { return columns_; }

  /// Adds the column h (columns() + 2 long, the last the subdiagonal); returns the new residual norm. A column that is not
  /// finite after rotation is not kept, and NaN comes back.
  double add(std::span<const double> h) {
    const int j = columns_;
    double* r = R_.data() + at(0, j);
    std::copy_n(h.data(), j + 1, r);
    for (int i = 0; i < j; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double upper = r[i];
      r[i] = cosine_[k] * upper + sine_[k] * r[i + 1];
      r[i + 1] = cosine_[k] * r[i + 1] - sine_[k] * upper;
    }
    const auto k = static_cast<std::size_t>(j);
    const double below = h[k + 1], length = std::hypot(r[j], below);
    cosine_[k] = length > 0 ? r[j] / length : 1;
    sine_[k] = length > 0 ? below / length : 0;
    r[j] = length;
    for (int i = 0; i <= j; ++i) {
      if (!std::isfinite(r[i])) return std::numeric_limits<double>::quiet_NaN();
    }
    g_[k + 1] = -sine_[k] * g_[k];
    g_[k] = cosine_[k] * g_[k];
    ++columns_;
    // A zero column teaches nothing: the residual stays what it was.
    return length > 0 ? std::fabs(g_[k + 1]) : std::fabs(g_[k]);
  }

  /// The minimiser over all columns. A column whose pivot is rounding error is left out (singular systems).
  void solve(std::span<double> y) const {
    for (int j = columns_ - 1; j >= 0; --j) {
      const auto k = static_cast<std::size_t>(j);
      double sum = g_[k], scale = 0;
      for (int i = j + 1; i < columns_; ++i) sum -= R_[at(j, i)] * y[static_cast<std::size_t>(i)];
      for (int i = 0; i <= j; ++i) scale = std::max(scale, std::fabs(R_[at(i, j)]));
      const double pivot = R_[at(j, j)];
      y[k] = pivot > std::numeric_limits<double>::epsilon() * scale ? sum / pivot : 0;
    }
  }

 private:
  /// Columns follow one another; column j has size + 1 places so that a view of it needs no bound.
  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(j) * (static_cast<std::size_t>(size_) + 1) + static_cast<std::size_t>(i);
  }

  int size_, columns_ = 0;
  std::vector<double> R_, cosine_, sine_, g_;
};

}  // namespace echelon
