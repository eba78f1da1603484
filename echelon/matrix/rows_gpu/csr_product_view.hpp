// SPDX-License-Identifier: BSD-3-Clause
// Products with a block CSR matrix on a GPU: the table of launches that host code calls. Sums run along a row as on the
// host, so the bits are the host's. Queued, not waited for.
#pragma once

#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

struct CsrProductView {
  BlockCsrView<double> A;
  const double* x;
  const double* b;  // of the residual
  double* y;
  bool long_rows;  // b = 1: eight lanes share a row, not four
};

struct CsrProductKernels {
  /// y = A x; y = b − A x with rows summed in twice the precision; y = row sums of |A|.
  void (*product)(int device, const CsrProductView& view);
  void (*careful_residual)(int device, const CsrProductView& view);
  void (*row_sums)(int device, const CsrProductView& view);
};

/// Null when the build has no CUDA.
const CsrProductKernels* csr_product_kernels();

}  // namespace echelon
