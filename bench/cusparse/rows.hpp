// SPDX-License-Identifier: BSD-3-Clause
// A case's rows on the GPU as cuSPARSE takes them: CSR of scalars, or BSR of column-major blocks, with 32-bit indices, of
// some stencil entries. Entries from the diagonal on are an upper triangle: as scalars without what lies below the
// diagonal in its block. Only cuSPARSE's contenders see this.
#pragma once

#include "bench/measure/device_values.hpp"
#include "echelon/base/array.hpp"
#include "echelon/stencil/layout_view.hpp"

namespace echelon::bench {

struct DeviceRows {
  int rows = 0, nonzeros = 0;  // of blocks, which are scalars for block = 1
  int block = 1;
  Array<int> row_start, column;
  Array<double> values;
};

/// A matrix on the GPU in user order, and which of its entries each of the shape's is; −1: zeros.
struct GivenValues {
  const double* values = nullptr;
  int source[ValueShape::most_entries] = {};
};

/// With `given` values the shape says only where they go. Throws Error(will_not_fit) where 32 bits cannot count the values.
DeviceRows device_rows(const ValueShape& shape, EntryRange entries, bool as_scalars, const GivenValues& given = {});

}  // namespace echelon::bench
