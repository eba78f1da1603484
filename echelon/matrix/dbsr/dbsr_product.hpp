// SPDX-License-Identifier: BSD-3-Clause
// The product with a matrix in diagonal block rows, a kernel a bsize: y = A x for block rows [begin, end), a chain of fma
// from 0 over L, D and U in ascending columns. Bytes a stored block: 8·bsize + 5; a position: 8 of D, x and y.
#pragma once

#include "echelon/matrix/dbsr/dbsr_view.hpp"

namespace echelon {

template <class T>
using DbsrProduct = void (*)(const DbsrView<T>& A, const T* x, T* y, std::int64_t begin, std::int64_t end);

/// bsize 1, 2, 4 … 64.
template <class T>
DbsrProduct<T> dbsr_product(int bsize);

}  // namespace echelon
