// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/grid_gpu/tile_product_view.hpp"

namespace echelon {
const TileProductKernels* tile_product_kernels() { return nullptr; }
}  // namespace echelon
