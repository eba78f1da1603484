// SPDX-License-Identifier: BSD-3-Clause
#include "bench/mg/hypre_grid.hpp"

#include <vector>

#include "bench/measure/hypre_system.hpp"
#include "bench/measure/mpi_ranks.hpp"
#include "bench/measure/row_slab.hpp"
#include "echelon/base/error.hpp"

namespace echelon::bench {
namespace {

HYPRE_StructVector made_vector(HYPRE_StructGrid grid) {
  HYPRE_StructVector vector;
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &vector);
  HYPRE_StructVectorInitialize(vector);
  return vector;
}

}  // namespace

HypreGrid::HypreGrid(const BenchCase& one) {
  const MpiRanks mpi;
  // Our matrix, hypre's copy and its coarser operators, which are boxes.
  require_room(one, 1 + 5.0 / mpi.ranks, "hypre");
  const Grid grid = one.grid;
  axes_ = grid.nz > 1 ? 3 : 2;
  const auto range = owned_points(grid, mpi.rank, mpi.ranks);
  if (range.points() == 0) throw Error(ErrorCode::bad_argument, "there are more ranks than planes");
  first_ = range.begin, points_ = range.points();
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz}, plane = axes_ == 3 ? grid.nx * grid.ny : grid.nx;
  for (int d = 0; d < axes_; ++d) upper_[d] = static_cast<HYPRE_Int>(sides[d] - 1);
  lower_[axes_ - 1] = static_cast<HYPRE_Int>(range.begin / plane);
  upper_[axes_ - 1] = static_cast<HYPRE_Int>(range.end / plane - 1);
  HYPRE_StructGridCreate(MPI_COMM_WORLD, axes_, &grid_);
  HYPRE_StructGridSetExtents(grid_, lower_, upper_);
  HYPRE_StructGridAssemble(grid_);
  fill_matrix(one);
  const auto whole = one.right_hand_side();
  b = made_vector(grid_);
  HYPRE_StructVectorSetBoxValues(b, lower_, upper_, const_cast<double*>(whole.data()) + first_);
  HYPRE_StructVectorAssemble(b);
  x = made_vector(grid_);
  HYPRE_StructVectorAssemble(x);
  HypreSystem::require_success();
}

void HypreGrid::fill_matrix(const BenchCase& one) {
  const auto ours = one.make();
  const auto offsets = ours.stencil().offsets();
  const int center = ours.stencil().center();
  const int stored = one.symmetric() ? center + 1 : ours.stencil().size();  // offsets ascend: the lower half is first
  HYPRE_StructStencilCreate(axes_, stored, &stencil_);
  for (int e = 0; e < stored; ++e) {
    const Offset o = offsets[static_cast<std::size_t>(e)];
    HYPRE_Int offset[3] = {o.x, o.y, o.z};
    HYPRE_StructStencilSetElement(stencil_, e, offset);
  }
  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, grid_, stencil_, &A);
  HYPRE_StructMatrixSetSymmetric(A, one.symmetric() ? 1 : 0);
  HYPRE_StructMatrixInitialize(A);
  for (HYPRE_Int e = 0; e < stored; ++e) {
    const double* values = ours.values().data() + e * one.grid.points() + first_;
    HYPRE_StructMatrixSetBoxValues(A, lower_, upper_, 1, &e, const_cast<double*>(values));
  }
  HYPRE_StructMatrixAssemble(A);
}

HypreGrid::~HypreGrid() {
  HYPRE_StructVectorDestroy(b);
  HYPRE_StructVectorDestroy(x);
  HYPRE_StructMatrixDestroy(A);
  HYPRE_StructStencilDestroy(stencil_);
  HYPRE_StructGridDestroy(grid_);
}

void HypreGrid::start() { HYPRE_StructVectorSetConstantValues(x, 0.0); }

Vector<double> HypreGrid::gathered() const {
  Vector<double> part(points_);
  auto* box = const_cast<HYPRE_Int*>(lower_);
  HYPRE_StructVectorGetBoxValues(x, box, const_cast<HYPRE_Int*>(upper_), part.data());
  return MpiRanks().gather(part);
}

}  // namespace echelon::bench
