// SPDX-License-Identifier: BSD-3-Clause
// What a block CSR matrix on a GPU gives its products. Private to matrix/.
#pragma once

#include "echelon/matrix/rows_gpu/csr_product_view.hpp"

namespace echelon {

/// Rows of at least so many entries on average are shared by more lanes.
inline constexpr std::int64_t entries_of_long_rows = 6;

inline CsrProductView device_view(const BlockCsr<double>& A, const Vector<double>& x, const double* b, Vector<double>& y) {
  return {A.view(), x.data(), b, y.data(), A.blocks() >= entries_of_long_rows * A.block_rows()};
}

}  // namespace echelon
