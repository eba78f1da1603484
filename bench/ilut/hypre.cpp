// SPDX-License-Identifier: BSD-3-Clause
// hypre's ILUT (block Jacobi over one rank) in natural order. Its tolerance is relative to the mean of |a_ij| in a row and
// not to the row's norm; --drop is translated by the ratio of the two. How much it keeps it says in print only, as a
// multiple of A's nonzeros.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "bench/ilu/measure.hpp"

namespace {

HYPRE_IJMatrix to_hypre(const echelon::BlockCsr<double>& A) {
  const auto n = static_cast<HYPRE_BigInt>(A.rows());
  HYPRE_IJMatrix matrix;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, 0, n - 1, 0, n - 1, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  std::vector<HYPRE_BigInt> columns;
  for (HYPRE_BigInt i = 0; i < n; ++i) {
    const auto begin = A.row_start()[i], end = A.row_start()[i + 1];
    auto count = static_cast<HYPRE_Int>(end - begin);
    columns.assign(A.column().begin() + begin, A.column().begin() + end);
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &i, columns.data(), A.values().data() + begin);
  }
  HYPRE_IJMatrixAssemble(matrix);
  return matrix;
}

HYPRE_IJVector to_hypre(const echelon::Vector<double>& v) {
  HYPRE_IJVector vector;
  const auto n = static_cast<HYPRE_BigInt>(v.size());
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, 0, n - 1, &vector);
  HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(vector);
  std::vector<HYPRE_BigInt> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  HYPRE_IJVectorSetValues(vector, static_cast<HYPRE_Int>(n), rows.data(), v.data());
  HYPRE_IJVectorAssemble(vector);
  return vector;
}

/// Geometric mean over the rows of ‖a_i‖₂ / mean_j |a_ij|.
double norm_over_mean(const echelon::BlockCsr<double>& A) {
  double logs = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    double squares = 0, sum = 0;
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
      squares += A.values()[p] * A.values()[p];
      sum += std::abs(A.values()[p]);
    }
    logs += std::log(std::sqrt(squares) * static_cast<double>(A.row_start()[i + 1] - A.row_start()[i]) / sum);
  }
  return std::exp(logs / static_cast<double>(A.rows()));
}

/// What `work` prints.
std::string printed_by(const std::function<void()>& work) {
  std::fflush(stdout);
  std::FILE* file = std::tmpfile();
  const int terminal = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  work();
  std::fflush(stdout);
  dup2(terminal, STDOUT_FILENO);
  close(terminal);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

/// The number after "complexity = ", times A's nonzeros; 0 when it is not there.
std::int64_t kept_nonzeros(const std::string& text, std::int64_t nonzeros) {
  const std::string words = "complexity = ";
  const auto at = text.find(words);
  return at == std::string::npos ? 0
                                 : std::llround(std::stod(text.substr(at + words.size())) * static_cast<double>(nonzeros));
}

}  // namespace

int main(int argc, char** argv) {
  const auto c = bench::IluCase::from_command_line(argc, argv);
  const auto A = c.make();
  if (A.block() > 1) {
    fprintf(stderr, "its ILUT knows no blocks\n");
    return 1;
  }
  MPI_Init(nullptr, nullptr);
  HYPRE_Init();
  const auto r = bench::IluCase::right_hand_side(A.rows());
  HYPRE_IJMatrix matrix = to_hypre(A);
  HYPRE_IJVector right = to_hypre(r), solution = to_hypre(echelon::Vector<double>(A.rows(), 0.0));
  HYPRE_ParCSRMatrix M = nullptr;
  HYPRE_ParVector b = nullptr, x = nullptr;
  HYPRE_IJMatrixGetObject(matrix, reinterpret_cast<void**>(&M));
  HYPRE_IJVectorGetObject(right, reinterpret_cast<void**>(&b));
  HYPRE_IJVectorGetObject(solution, reinterpret_cast<void**>(&x));
  const double drop = c.drop * norm_over_mean(A);
  const auto made = [&](HYPRE_Int print_level) {
    constexpr HYPRE_Int block_jacobi_ilut = 1, natural_order = 0;
    HYPRE_Solver ilut;
    HYPRE_ILUCreate(&ilut);
    HYPRE_ILUSetType(ilut, block_jacobi_ilut);
    HYPRE_ILUSetMaxNnzPerRow(ilut, c.lfil);
    HYPRE_ILUSetDropThreshold(ilut, drop);
    HYPRE_ILUSetLocalReordering(ilut, natural_order);
    HYPRE_ILUSetMaxIter(ilut, 1);
    HYPRE_ILUSetTol(ilut, 0.0);
    HYPRE_ILUSetPrintLevel(ilut, print_level);
    HYPRE_ILUSetup(ilut, M, b, x);
    return ilut;
  };
  const double setup = bench::median_seconds(c.repeats, [&] { HYPRE_ILUDestroy(made(0)); });
  const auto text = printed_by([&] { HYPRE_ILUDestroy(made(1)); });
  HYPRE_Solver ilut = made(0);
  const double apply = bench::median_seconds(c.repeats, [&] {
    HYPRE_ParVectorSetConstantValues(x, 0.0);
    HYPRE_ILUSolve(ilut, M, b, x);
  });
  HYPRE_ClearAllErrors();  // one iteration never reaches a tolerance, which it notes
  std::vector<HYPRE_BigInt> rows(static_cast<std::size_t>(A.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  echelon::Vector<double> answer(A.rows());
  HYPRE_IJVectorGetValues(solution, static_cast<HYPRE_Int>(A.rows()), rows.data(), answer.data());
  bench::print_result("hypre", c, A.rows(), A.nonzeros(), setup, apply, answer, kept_nonzeros(text, A.nonzeros()));
  HYPRE_ILUDestroy(ilut);
  HYPRE_IJMatrixDestroy(matrix);
  HYPRE_IJVectorDestroy(right);
  HYPRE_IJVectorDestroy(solution);
  HYPRE_Finalize();
  MPI_Finalize();
}
