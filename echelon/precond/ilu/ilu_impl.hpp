// SPDX-License-Identifier: BSD-3-Clause
// What stands behind an Ilu: one implementation for block CSR (ilu.cpp), one for stencils (struct_ilu.cpp). Private.
#pragma once

#include <cmath>
#include <span>
#include <string>

#include "echelon/precond/ilu/ilu.hpp"

namespace echelon {

/// Throws Error(bad_argument) for options out of range (factor/ilu_options.hpp), a matrix on another device or not square.
template <class T>
void check_matrix(const BlockCsr<T>& A, const IluOptions& options);

/// Throws Error(symmetry) for what IC cannot take; `work` holds a number for every block row.
template <class T>
void require_symmetry(const BlockCsr<T>& A, std::span<std::int64_t> work);

/// The size of the first value that is finite and not zero; 0 when there is none.
template <class T>
double first_magnitude(std::span<const T> values) {
  for (const T value : values) {
    if (value != 0 && std::isfinite(value)) return std::abs(static_cast<double>(value));
  }
  return 0;
}

/// Factors by level of fill are called "ilu" and "ic", behind what says how they were found: "paric", "mcilu".
inline void name_levels(FactorReport& report, bool symmetric, const std::string& how = "") {
  report.name = how + (symmetric ? "ic" : "ilu");
  report.kind = PrecondKind::levels;
  report.symmetric = symmetric;
}

/// Instead, where ω is given.
inline void name_relaxation(double omega, FactorReport& report) {
  if (omega <= 0) return;
  report.name = "sgs";
  report.kind = PrecondKind::relaxation;
  report.omega = omega;
}

/// Throws Error(bad_argument) unless 0 < ω < 2.
double checked_omega(double omega);

/// Stands for the scale of a row of zeros. In the order of the rows, so that it is block CSR's.
template <class T>
double zero_row_scale(const StructMatrix<T>& A) {
  const Grid& g = A.grid();
  for (std::int64_t point = 0; point < g.points(); ++point) {
    const std::int64_t i = point % g.nx, j = point / g.nx % g.ny, k = point / g.nx / g.ny;
    for (int e = 0; e < A.stencil().size(); ++e) {
      const Offset o = A.stencil().offsets()[e];
      const double first = g.contains(i + o.x, j + o.y, k + o.z) ? first_magnitude(A.block(point, e)) : 0;
      if (first > 0) return first;
    }
  }
  return 1;
}

template <class T>
struct Ilu<T>::Impl {
  FactorReport report;

  virtual ~Impl() = default;
  virtual void apply(const Vector<T>& r, Vector<T>& z) const = 0;
  virtual std::unique_ptr<SharedTriangles<T>> shared_triangles(const Operator<T>&) const;
  /// The default refuses: this factorization was made from the other kind of matrix.
  virtual void refactor(const BlockCsr<T>& A);
  virtual void refactor(const StructMatrix<T>& A);
  virtual BlockCsr<T> lower() const = 0;
  virtual BlockCsr<T> upper() const = 0;
  virtual std::span<const std::int32_t> order() const = 0;
  virtual std::span<const std::int32_t> column_order() const { return order(); }
  virtual const Triangles<T>* triangles() const { return nullptr; }
};

}  // namespace echelon
