// SPDX-License-Identifier: BSD-3-Clause
// A smoother of HPCG as the textbook has it, point by point from the values of a StructMatrix, and ways to spoil it.
#pragma once

#include <memory>

#include "apps/hpcg/smoother.hpp"

namespace echelon::test {

class PlainSmoother : public hpcg::Smoother {
 public:
  enum class Kind { symmetric, forward_only };
  PlainSmoother(const StructMatrix<double>& A, Kind kind) : A_(A.grid(), A.stencil()), kind_(kind) { refresh(A); }

  void refresh(const StructMatrix<double>& A) override {
    const auto from = A.values();
    std::copy(from.begin(), from.end(), A_.values().begin());
  }
  void from_zero(const V& r, V& x) override {
    x.fill(0.0);
    from_guess(r, x);
  }
  void from_guess(const V& r, V& x) override {
    const std::int64_t n = A_.rows();
    for (std::int64_t row = 0; row < n; ++row) relax(row, r, x);
    if (kind_ == Kind::forward_only) return;
    for (std::int64_t row = n - 1; row >= 0; --row) relax(row, r, x);
  }
  void coarse_residual(const V& r, const V& x, V& coarse) override {
    const Grid& grid = A_.grid();
    std::int64_t at = 0;
    for (std::int64_t k = 0; k < grid.nz; k += 2) {
      for (std::int64_t j = 0; j < grid.ny; j += 2) {
        for (std::int64_t i = 0; i < grid.nx; i += 2) {
          const std::int64_t row = grid.index(i, j, k);
          coarse[at++] = r[row] - product(row, x);
        }
      }
    }
  }
  double multiply(const V& x, V& y) override {
    double dot = 0;
    for (std::int64_t row = 0; row < A_.rows(); ++row) {
      y[row] = product(row, x);
      dot += x[row] * y[row];
    }
    return dot;
  }
  hpcg::SmootherBytes traffic() const override { return {1, 1, 1, 1}; }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(A_.values().size_bytes()); }
  std::int64_t length() const override { return A_.rows(); }

  static hpcg::MakeSmoother maker(Kind kind) {
    return [kind](const StructMatrix<double>& A) { return std::make_unique<PlainSmoother>(A, kind); };
  }

 protected:
  double value(std::int64_t row, int entry) const { return A_.block(row, entry)[0]; }

 private:
  double product(std::int64_t row, const V& x) const {
    const Grid& grid = A_.grid();
    const std::int64_t i = row % grid.nx, j = row / grid.nx % grid.ny, k = row / (grid.nx * grid.ny);
    double sum = 0;
    for (int e = 0; e < A_.stencil().size(); ++e) {
      const Offset& o = A_.stencil().offsets()[static_cast<std::size_t>(e)];
      if (grid.contains(i + o.x, j + o.y, k + o.z)) sum += value(row, e) * x[grid.index(i + o.x, j + o.y, k + o.z)];
    }
    return sum;
  }
  void relax(std::int64_t row, const V& r, V& x) const {
    const double centre = value(row, A_.stencil().center());
    x[row] += (r[row] - product(row, x)) / centre;
  }

  StructMatrix<double> A_;
  Kind kind_;
};

}  // namespace echelon::test
