// SPDX-License-Identifier: BSD-3-Clause
// A = L + D + U of scalars, in user order [entry][point], into what the sweeps read: L D⁻¹, D⁻¹ and U, in place, for host and
// device. L first, by D; then D⁻¹. A value of L takes its column's diagonal: l · (1/d), the bits of `sgs` on the host.
// Bytes a row: 16 an entry of L, 16 the diagonal; neighbours' diagonals meet in the cache.
#pragma once

#include <cstdint>

#include "echelon/base/device.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon::unit_triangles {

struct View {
  Grid grid;
  const Offset* offsets;  // of the entries, ascending, where the values are
  int center;             // the entry of the diagonal
  double* values;         // [entry][point]; what belongs to neighbours outside is zero
};

/// Entry e < center of a point.
ECHELON_FN void lower(const View& v, int e, std::int64_t point) {
  const Offset o = v.offsets[e];
  const std::int64_t i = point % v.grid.nx, line = point / v.grid.nx, j = line % v.grid.ny, k = line / v.grid.ny;
  const std::int64_t x = i + o.x, y = j + o.y, z = k + o.z;
  if (x < 0 || y < 0 || z < 0 || x >= v.grid.nx || y >= v.grid.ny || z >= v.grid.nz) return;
  const std::int64_t points = v.grid.nx * v.grid.ny * v.grid.nz;
  const double inverse = 1.0 / v.values[v.center * points + (z * v.grid.ny + y) * v.grid.nx + x];
  v.values[e * points + point] *= inverse;
}

/// The diagonal of a point, once no value of L asks for it any more.
ECHELON_FN void diagonal(const View& v, std::int64_t point) {
  double& d = v.values[v.center * (v.grid.nx * v.grid.ny * v.grid.nz) + point];
  d = 1.0 / d;
}

/// Both steps on a GPU, queued. Null when the build has no CUDA.
using Launch = void (*)(int device, const View& view);
Launch launch();

}  // namespace echelon::unit_triangles
