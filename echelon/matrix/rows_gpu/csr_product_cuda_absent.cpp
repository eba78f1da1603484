// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/rows_gpu/csr_product_view.hpp"

namespace echelon {
const CsrProductKernels* csr_product_kernels() { return nullptr; }
}  // namespace echelon
