// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/grid_gpu/tile_convert_view.hpp"

namespace echelon {
template <class T>
const TileConvertKernels<T>* tile_convert_cuda() {
  return nullptr;
}
template const TileConvertKernels<double>* tile_convert_cuda();
template const TileConvertKernels<float>* tile_convert_cuda();
}  // namespace echelon
