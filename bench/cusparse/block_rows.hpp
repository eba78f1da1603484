// SPDX-License-Identifier: BSD-3-Clause
// A block CSR matrix on the GPU as cuSPARSE takes it: CSR of its scalars or BSR; and the triangles of factors in place, the
// smallest form its solves take. Only cuSPARSE's contenders see this.
#pragma once

#include "bench/cusparse/rows.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/stencil/wavefront.hpp"

namespace echelon::bench {

/// `A` is on the host. Throws Error(will_not_fit) where 32 bits cannot count the values.
DeviceRows device_rows(const BlockCsr<double>& A, bool as_scalars);

/// Of scalars the strict lower or the upper triangle, of blocks with the diagonal in either: bsrilu02 leaves both of its
/// factors there.
DeviceRows triangle_of(const DeviceRows& factors, Triangle triangle);

}  // namespace echelon::bench
