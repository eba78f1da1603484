// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/hypre_system.hpp"

#include <fmt/format.h>

#include <numeric>

#include "bench/measure/mpi_ranks.hpp"
#include "bench/measure/row_slab.hpp"
#include "echelon/base/error.hpp"

namespace echelon::bench {
namespace {

HYPRE_IJMatrix to_hypre(const RowSlab& rows, HYPRE_BigInt first) {
  HYPRE_IJMatrix matrix;
  const HYPRE_BigInt last = first + rows.rows - 1;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  Array<HYPRE_Int> counts(rows.rows);
  Array<HYPRE_BigInt> numbers(rows.rows);
  for (std::int64_t i = 0; i < rows.rows; ++i) counts[i] = rows.row_start[i + 1] - rows.row_start[i];
  std::iota(numbers.begin(), numbers.end(), first);
  HYPRE_IJMatrixSetRowSizes(matrix, counts.data());
  HYPRE_IJMatrixInitialize(matrix);
  HYPRE_IJMatrixSetValues(matrix, rows.rows, counts.data(), numbers.data(), rows.column.data(), rows.values.data());
  HYPRE_IJMatrixAssemble(matrix);
  return matrix;
}

HYPRE_IJVector to_hypre(const double* values, HYPRE_Int count, HYPRE_BigInt first) {
  HYPRE_IJVector vector;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, first + count - 1, &vector);
  HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(vector);
  Array<HYPRE_BigInt> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  HYPRE_IJVectorSetValues(vector, count, numbers.data(), values);
  HYPRE_IJVectorAssemble(vector);
  return vector;
}

}  // namespace

HypreSession::HypreSession() {
  MPI_Init(nullptr, nullptr);
  HYPRE_Init();
}

HypreSession::~HypreSession() {
  HYPRE_Finalize();
  MPI_Finalize();
}

HypreSystem::HypreSystem(const BenchCase& one) {
  const MpiRanks mpi;
  rank = mpi.rank;
  ranks = mpi.ranks;
  // The case's matrix, our rows of it as blocks and scalars, hypre's copy and its factor.
  require_room(one, 1 + 7.0 / ranks, "hypre");
  const auto range = owned_points(one.grid, rank, ranks);
  first_ = static_cast<HYPRE_BigInt>(range.begin * one.dof);
  local_ = static_cast<HYPRE_Int>(range.points() * one.dof);
  {
    auto rows = row_slab(one.make(), range);
    if (one.dof > 1) rows = as_scalars(rows);
    matrix_ = to_hypre(rows, first_);
  }
  const auto whole = one.right_hand_side();
  const Vector<double> zero(local_, 0.0);
  right_ = to_hypre(whole.data() + first_, local_, first_);
  solution_ = to_hypre(zero.data(), local_, first_);
  void* object = nullptr;
  HYPRE_IJMatrixGetObject(matrix_, &object);
  A = static_cast<HYPRE_ParCSRMatrix>(object);
  HYPRE_IJVectorGetObject(right_, &object);
  b = static_cast<HYPRE_ParVector>(object);
  HYPRE_IJVectorGetObject(solution_, &object);
  x = static_cast<HYPRE_ParVector>(object);
  require_success();
}

HypreSystem::~HypreSystem() {
  HYPRE_IJMatrixDestroy(matrix_);
  HYPRE_IJVectorDestroy(right_);
  HYPRE_IJVectorDestroy(solution_);
}

HYPRE_Solver HypreSystem::make_ilu() {
  constexpr HYPRE_Int block_jacobi_iluk = 0, natural_order = 0;
  HYPRE_Solver ilu;
  HYPRE_ILUCreate(&ilu);
  HYPRE_ILUSetType(ilu, block_jacobi_iluk);
  HYPRE_ILUSetLevelOfFill(ilu, 0);
  HYPRE_ILUSetLocalReordering(ilu, natural_order);
  HYPRE_ILUSetMaxIter(ilu, 1);
  HYPRE_ILUSetTol(ilu, 0.0);
  HYPRE_ILUSetPrintLevel(ilu, 0);
  return ilu;
}

void HypreSystem::require_success() {
  const HYPRE_Int code = HYPRE_GetError();
  HYPRE_ClearAllErrors();
  if (code != 0) throw Error(ErrorCode::structure, fmt::format("hypre noted the error {}", code));
}

ContenderLine HypreSystem::line() const {
  ContenderLine line;
  line.contender = "hypre " HYPRE_RELEASE_VERSION;
  line.method = ranks == 1 ? "ParCSR ILU(0)" : "ParCSR block Jacobi ILU(0)";
  line.ranks = ranks;
  return line;
}

Vector<double> HypreSystem::gathered() const {
  Vector<double> part(local_);
  Array<HYPRE_BigInt> numbers(local_);
  std::iota(numbers.begin(), numbers.end(), first_);
  HYPRE_IJVectorGetValues(solution_, local_, numbers.data(), part.data());
  return MpiRanks().gather(part);
}

}  // namespace echelon::bench
