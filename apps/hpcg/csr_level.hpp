// SPDX-License-Identifier: BSD-3-Clause
// A level as HPCG's reference has it: compressed rows in natural order, columns of a row ascending in the whole grid, points
// of other processes behind the own ones. Product and symmetric Gauss-Seidel row by row, nothing unrolled, fused or
// reordered; threads share the rows of a product, Gauss-Seidel is sequential. A row reads 12 bytes a nonzero.
#pragma once

#include <cstdint>

#include "apps/hpcg/geometry.hpp"
#include "echelon/base/array.hpp"
#include "echelon/comm/halo.hpp"

namespace echelon::hpcg {

class CsrLevel {
 public:
  CsrLevel(const Geometry& geometry, const BoxHalo& halo);

  std::int64_t rows() const { return start_.size() - 1; }
  /// Own points and those of other processes.
  std::int64_t columns() const { return columns_; }
  std::int64_t bytes() const { return start_.bytes() + diagonal_.bytes() + column_.bytes() + value_.bytes(); }

  /// y ← A x
  void multiply(const Vector<double>& x, Vector<double>& y) const;
  /// A forward and a backward sweep from x; values of other processes stay what they are.
  void smooth(const Vector<double>& r, Vector<double>& x) const;

 private:
  std::int64_t columns_;
  Array<std::int64_t> start_, diagonal_;
  Array<std::int32_t> column_;
  Array<double> value_;
};

}  // namespace echelon::hpcg
