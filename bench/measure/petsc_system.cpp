// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/petsc_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/measure/mpi_ranks.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::bench {
namespace {

/// MPIBAIJ block by block: handed over as arrays (3.18), blocks that couple ranks come out in another order.
Mat distributed_blocks(const RowSlab& rows, PointRange range, PetscInt global) {
  const PetscInt b = rows.block, local = rows.rows * b;
  std::vector<PetscInt> inside(static_cast<std::size_t>(rows.rows), 0), outside(inside);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    for (auto e = rows.row_start[row]; e < rows.row_start[row + 1]; ++e) {
      const bool mine = rows.column[e] >= range.begin && rows.column[e] < range.end;
      ++(mine ? inside : outside)[i];
    }
  }
  Mat A;
  MatCreateBAIJ(PETSC_COMM_WORLD, b, local, local, global, global, 0, inside.data(), 0, outside.data(), &A);
  MatSetOption(A, MAT_ROW_ORIENTED, PETSC_FALSE);
  for (PetscInt i = 0; i < rows.rows; ++i) {
    const PetscInt row = static_cast<PetscInt>(range.begin) + i;
    for (auto e = rows.row_start[i]; e < rows.row_start[i + 1]; ++e) {
      MatSetValuesBlocked(A, 1, &row, 1, &rows.column[e], rows.values.data() + std::int64_t{e} * b * b, INSERT_VALUES);
    }
  }
  MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  return A;
}

}  // namespace

PetscSession::PetscSession() {
  PetscInitializeNoArguments();
  PetscPushErrorHandler(PetscMPIAbortErrorHandler, nullptr);
}

PetscSession::~PetscSession() { PetscFinalize(); }

PetscSystem::PetscSystem(const BenchCase& one) {
  const MpiRanks mpi;
  rank = mpi.rank;
  ranks = mpi.ranks;
  // The case's matrix, our rows of it, PETSc's copy and its factor.
  require_room(one, 1 + 4.5 / ranks, "PETSc");
  const auto range = owned_points(one.grid, rank, ranks);
  {
    const auto matrix = one.make();
    rows_ = row_slab(matrix, range);
  }
  const int block = one.dof;
  const auto local = static_cast<PetscInt>(range.points() * block), global = static_cast<PetscInt>(one.rows());
  auto* const start = rows_.row_start.data();
  auto* const column = rows_.column.data();
  double* const values = rows_.values.data();
  const MPI_Comm comm = PETSC_COMM_WORLD;
  if (ranks == 1 && block == 1) {
    MatCreateSeqAIJWithArrays(comm, local, local, start, column, values, &A);
  } else if (ranks == 1) {
    MatCreate(comm, &A);
    MatSetSizes(A, local, local, local, local);
    MatSetType(A, MATSEQBAIJ);
    MatSetOption(A, MAT_ROW_ORIENTED, PETSC_FALSE);
    MatSeqBAIJSetPreallocationCSR(A, block, start, column, values);
    rows_ = {};
  } else {
    if (block == 1) {
      MatCreateMPIAIJWithArrays(comm, local, local, global, global, start, column, values, &A);
    } else {
      A = distributed_blocks(rows_, range, global);
    }
    rows_ = {};
  }
  const auto whole = one.right_hand_side();
  local_b_ = Vector<double>(local);
  std::copy_n(whole.data() + range.begin * block, local, local_b_.data());
  local_x_ = Vector<double>(local, 0.0);
  VecCreateMPIWithArray(comm, block, local, global, local_b_.data(), &b);
  VecCreateMPIWithArray(comm, block, local, global, local_x_.data(), &x);
}

PetscSystem::~PetscSystem() {
  VecDestroy(&b);
  VecDestroy(&x);
  MatDestroy(&A);
}

void PetscSystem::use_ilu(PC pc) {
  MPI_Comm comm;
  PetscObjectGetComm(reinterpret_cast<PetscObject>(pc), &comm);
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  // ILU(0) in natural order is the default inside block Jacobi.
  PCSetType(pc, ranks == 1 ? PCILU : PCBJACOBI);
  if (ranks == 1) PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL);
}

PC PetscSystem::make_ilu() const {
  PC pc;
  PCCreate(PETSC_COMM_WORLD, &pc);
  PCSetOperators(pc, A, A);
  use_ilu(pc);
  PCSetUp(pc);
  PCSetUpOnBlocks(pc);
  return pc;
}

void PetscSystem::require_factored(PC pc) {
  PCFailedReason reason;
  PCGetFailedReason(pc, &reason);
  if (reason == PC_NOERROR) return;
  throw Error(ErrorCode::structure, fmt::format("PETSc's factorization failed, reason {}", static_cast<int>(reason)));
}

ContenderLine PetscSystem::line() const {
  ContenderLine line;
  line.contender = fmt::format("PETSc {}.{}.{}", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  MatType type;
  MatGetType(A, &type);
  line.method = fmt::format("{} {}", type, ranks == 1 ? "ILU(0)" : "block Jacobi ILU(0)");
  line.ranks = ranks;
  return line;
}

Vector<double> PetscSystem::gathered() const { return MpiRanks().gather(local_x_); }
Fingerprint PetscSystem::answer() const { return fingerprint(gathered()); }

}  // namespace echelon::bench
