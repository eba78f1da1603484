// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/grid_gpu/tile_traits.inl"

namespace echelon::tile_traits {
const Kernels* kernels() { return nullptr; }
}  // namespace echelon::tile_traits
