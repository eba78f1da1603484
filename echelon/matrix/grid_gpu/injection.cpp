// SPDX-License-Identifier: BSD-3-Clause
// Checks, the table of places, and the choice of who does it.
#include "echelon/matrix/grid_gpu/injection.hpp"

#include <fmt/format.h>

#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/grid_gpu/injection_row.inl"

namespace echelon {
namespace {

const injection::Kernels& kernels() {
  const injection::Kernels* found = injection::kernels();
  if (!found) throw Error(ErrorCode::device, "injection on a GPU: this build of echelon has no CUDA");
  return *found;
}

void require_halves(const TileOrder& fine, const TileOrder& coarse) {
  const Grid &f = fine.grid(), &c = coarse.grid();
  if (c.nx != (f.nx + 1) / 2 || c.ny != (f.ny + 1) / 2 || c.nz != (f.nz + 1) / 2) {
    throw Error(ErrorCode::bad_argument, fmt::format("injection: the even points of {}x{}x{} are not a grid of {}x{}x{}", f.nx,
                                                     f.ny, f.nz, c.nx, c.ny, c.nz));
  }
  if (fine.dof() != 1 || coarse.dof() != 1) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("injection: {} and {} unknowns a point, expected 1", fine.dof(), coarse.dof()));
  }
  if (fine.device() != coarse.device()) {
    throw Error(ErrorCode::bad_argument, fmt::format("injection: the fine order is on {}, the coarse one on {}",
                                                     fine.device().name(), coarse.device().name()));
  }
  if (fine.vector_scalars() > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::will_not_fit, "injection: 31 bits cannot count the places of the fine vector");
  }
}

Array<std::int32_t> places(const TileOrder& fine, const TileOrder& coarse) {
  require_halves(fine, coarse);
  // Tables of the host are made when a view is first asked for: here, by one thread.
  const LayoutView &from = fine.host_vector().view(), &to = coarse.host_vector().view();
  const Grid& grid = coarse.grid();
  Array<std::int32_t> place(coarse.vector_scalars(), std::int32_t{-1});
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads_for(grid.points()))
  for (std::int64_t k = 0; k < grid.nz; ++k) {
    for (std::int64_t j = 0; j < grid.ny; ++j) {
      for (std::int64_t i = 0; i < grid.nx; ++i) {
        const Ijk point{static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
        const Ijk even{2 * point.i, 2 * point.j, 2 * point.k};
        place[to.place(point).first] = static_cast<std::int32_t>(from.place(even).first);
      }
    }
  }
  return place.to(fine.device());
}

}  // namespace

TileInjection::TileInjection(const TileOrder& fine, const TileOrder& coarse)
    : fine_length_(fine.vector_scalars()), fine_place_(places(fine, coarse)) {}

void TileInjection::check(const char* what, const V& v, std::int64_t size) const {
  if (v.device() != fine_place_.device()) {
    throw Error(ErrorCode::device, fmt::format("injection: the table is on {}, the {} vector on {}",
                                               fine_place_.device().name(), what, v.device().name()));
  }
  if (v.size() != size) throw_size_mismatch(what, v.size(), size);
}

void TileInjection::restrict_residual(const V& r, const V& Ax, V& coarse) const {
  check("fine", r, fine_length_);
  check("fine", Ax, fine_length_);
  check("coarse", coarse, fine_place_.size());
  const std::int64_t n = coarse.size();
  if (!coarse.device().is_host()) {
    return kernels().restrict_residual(coarse.device().index, fine_place_.data(), n, r.data(), Ax.data(), coarse.data());
  }
  for (std::int64_t at = 0; at < n; ++at) injection::restrict_row(fine_place_.data(), at, r.data(), Ax.data(), coarse.data());
}

void TileInjection::add(const V& coarse, V& fine) const {
  check("coarse", coarse, fine_place_.size());
  check("fine", fine, fine_length_);
  const std::int64_t n = coarse.size();
  if (!fine.device().is_host()) {
    return kernels().add(fine.device().index, fine_place_.data(), n, coarse.data(), fine.data());
  }
  for (std::int64_t at = 0; at < n; ++at) injection::add_row(fine_place_.data(), at, coarse.data(), fine.data());
}

}  // namespace echelon
