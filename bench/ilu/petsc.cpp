// SPDX-License-Identifier: BSD-3-Clause
// PETSc's ILU(0), natural order: SEQAIJ for block size 1, SEQBAIJ otherwise. Set-up is a fresh PC's whole PCSetUp.
#include <petscksp.h>

#include "bench/ilu/measure.hpp"

namespace {

Mat to_petsc(const echelon::BlockCsr<double>& A) {
  const auto rows = static_cast<PetscInt>(A.block_rows());
  const int b = A.block();
  std::vector<PetscInt> counts(static_cast<std::size_t>(rows));
  for (PetscInt i = 0; i < rows; ++i) counts[i] = static_cast<PetscInt>(A.row_start()[i + 1] - A.row_start()[i]);
  Mat M;
  if (b == 1) {
    MatCreateSeqAIJ(PETSC_COMM_SELF, rows, rows, 0, counts.data(), &M);
  } else {
    MatCreateSeqBAIJ(PETSC_COMM_SELF, b, rows * b, rows * b, 0, counts.data(), &M);
    MatSetOption(M, MAT_ROW_ORIENTED, PETSC_FALSE);
  }
  for (PetscInt i = 0; i < rows; ++i) {
    for (auto e = A.row_start()[i]; e < A.row_start()[i + 1]; ++e) {
      const PetscInt j = A.column()[e];
      MatSetValuesBlocked(M, 1, &i, 1, &j, A.values().data() + e * b * b, INSERT_VALUES);
    }
  }
  MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY);
  return M;
}

PC make_ilu(Mat A) {
  PC pc;
  PCCreate(PETSC_COMM_SELF, &pc);
  PCSetOperators(pc, A, A);
  PCSetType(pc, PCILU);
  PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL);
  PCSetUp(pc);
  return pc;
}

}  // namespace

int main(int argc, char** argv) {
  const auto c = bench::IluCase::from_command_line(argc, argv);
  PetscInitializeNoArguments();
  const auto matrix = c.make();
  Mat A = to_petsc(matrix);
  const auto rhs = bench::IluCase::right_hand_side(matrix.rows());
  echelon::Vector<double> answer(matrix.rows());
  Vec r, z;
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, static_cast<PetscInt>(rhs.size()), rhs.data(), &r);
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, static_cast<PetscInt>(rhs.size()), answer.data(), &z);
  const double setup = bench::median_seconds(c.repeats, [&] {
    PC pc = make_ilu(A);
    PCDestroy(&pc);
  });
  PC pc = make_ilu(A);
  PCFailedReason reason;
  PCGetFailedReason(pc, &reason);
  if (reason != PC_NOERROR) {
    fprintf(stderr, "PETSc: factorization failed, reason %d\n", static_cast<int>(reason));
    return 1;
  }
  const int applications = matrix.nonzeros() < 1'000'000 ? 200 : 3;
  const double apply = bench::median_seconds(c.repeats,
                                             [&] {
                                               for (int i = 0; i < applications; ++i) PCApply(pc, r, z);
                                             }) /
                       applications;
  bench::print_result("petsc", c, matrix.rows(), matrix.nonzeros(), setup, apply, answer);
  PCDestroy(&pc);
  VecDestroy(&r);
  VecDestroy(&z);
  MatDestroy(&A);
  PetscFinalize();
}
