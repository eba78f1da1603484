// SPDX-License-Identifier: BSD-3-Clause
// What an operation on a structured matrix must at least move and compute; the measured time is judged by these.
//   sweeps (L and U together): one stored value a nonzero, and a vector read and one written in each: v·nnz + 32·N bytes;
//   one sweep, or a product: v a nonzero of its entries, + 16·N bytes
//   factorization: A read, L and U written, the inverse diagonal written: 16·nnz + 8·b²·points; where no product l·u falls
//   on an off-diagonal point of the stencil (star5, star7) only the diagonal is new: 8·nnz + 8·b²·points
#pragma once

#include <cstdint>
#include <span>

#include "echelon/stencil/stencil.hpp"

namespace echelon::bench {

struct WorkShape {
  std::int64_t nonzeros = 0;  // scalars of neighbours inside the grid
  std::int64_t points = 0;
  int dof = 1;
};

/// `value_bytes`: of a stored coefficient of the factors.
double sweep_bytes(const WorkShape& shape, int value_bytes = 8);
/// Of one sweep or product over so many stencil entries, those of neighbours outside the grid (stored zeros) included.
double entries_bytes(std::int64_t points, int entries, int dof, int value_bytes);
double sweep_flops(const WorkShape& shape);
double factor_bytes(const WorkShape& shape, const Stencil& stencil);
/// Block products and inverses of an interior point, at all points.
double factor_flops(const WorkShape& shape, const Stencil& stencil);

/// True when ILU(0) changes the diagonal alone.
bool only_diagonal_changes(const Stencil& stencil);

}  // namespace echelon::bench
