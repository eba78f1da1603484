// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/grid_gpu/tile_traits.hpp"

#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/matrix/grid_gpu/tile_traits.inl"

namespace echelon {
namespace {

tile_traits::Findings on_host(const tile_traits::View& view) {
  tile_traits::Findings found;
  const Wavefront& front = view.matrix.vector.front;
  for (int k = 0; k < front.nz; ++k) {
    for (int j = 0; j < front.ny; ++j) {
      for (int i = 0; i < front.nx; ++i) {
        for (int r = 0; r < view.matrix.block; ++r) {
          tile_traits::see_row(view, {i, j, k}, r, tile_traits::place_of(view.matrix, {i, j, k}, r), found);
        }
      }
    }
  }
  return found;
}

tile_traits::Findings on_gpu(int device, const tile_traits::View& view) {
  const auto* kernels = tile_traits::kernels();
  if (!kernels) throw Error(ErrorCode::device, "a matrix in tile order on a GPU: this build of echelon has no CUDA");
  return kernels->find(device, view);
}

}  // namespace

MatrixTraits traits_of(const TileMatrix& A) {
  const tile_traits::View view{A.matrix_view(), A.stencil().center(), A.stencil().symmetric()};
  const auto found = A.device().is_host() ? on_host(view) : on_gpu(A.device().index, view);
  const auto count = [](unsigned long long n) { return static_cast<std::int64_t>(n); };
  MatrixTraits traits;
  traits.rows = A.rows();
  traits.block = A.dof();
  traits.zero_diagonals = count(found.zero);
  traits.negative_diagonals = count(found.negative);
  traits.weak_diagonals = count(found.weak);
  traits.first_weak_row = found.weak > 0 ? count(found.first_weak) : -1;
  traits.dominant_rows = count(found.dominant);
  if (!view.symmetric) {
    traits.asymmetry = std::numeric_limits<double>::infinity();
  } else if (found.nan > 0) {
    traits.asymmetry = std::numeric_limits<double>::quiet_NaN();
  } else {
    traits.asymmetry = found.difference == 0 ? 0 : found.difference / found.largest;
  }
  return traits;
}

}  // namespace echelon
