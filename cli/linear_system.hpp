// SPDX-License-Identifier: BSD-3-Clause
// From options to a system A x = b: a built-in problem on its grid, or a file. What cannot fit is refused before anything is
// assembled, and a file that no values could make solvable before anything is factored. With --backend cuda a problem is
// rows that the GPU will write.
#pragma once

#include <variant>

#include "cli/solve_options.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/report/run_report.hpp"

namespace echelon::cli {

struct LinearSystem {
  std::variant<BlockCsr<double>, StructMatrix<double>, std::shared_ptr<const RowSource>> matrix;
  Vector<double> b;
  ProblemInfo info;
  std::vector<std::string> remarks;  // what reading noticed: duplicates, explicit zeros, …
  double read_seconds = 0, assemble_seconds = 0;

  MatrixRef ref() const;
};

LinearSystem make_system(const SolveOptions& options);

}  // namespace echelon::cli
