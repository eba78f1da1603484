// SPDX-License-Identifier: BSD-3-Clause
// The block CSR matrix of a case, the same in the program and in every contender.
//   random  a stencil's pattern with the values of problems::random, its rows numbered as the case says
//   mesh    one point in each cell, at a drawn place; coupled to those of the 26 cells around that are nearer than 1.5
//           cells (about a dozen), as the nodes of a mesh are
//   projection and the other built-in problems as they are, with natural numbering
//   a file  the pattern, the diagonal completed; each diagonal value raised to twice the sum of its row, so that every
//           contender has a factorization without repairs: the times are the pattern's
#pragma once

#include <string>
#include <vector>

#include "bench/measure/bench_case.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon::bench {

/// Throws Error as the reader of files does; structure when the file is not square.
BlockCsr<double> block_matrix(const BenchCase& one);

/// Stencils in a random and in RCM numbering and meshes, b = 1 to 8, 10⁵ to 2·10⁶ block rows.
std::vector<BenchCase> block_shapes(bool small);
/// Every Matrix Market file of a folder but right-hand sides (*_rhs) and those of fewer nonzeros, as scalars, and in blocks
/// where `check` would advise them. Throws Error(file_missing) when the folder has no file at all.
std::vector<BenchCase> block_files(const std::string& folder, std::int64_t least_nonzeros = 0);

}  // namespace echelon::bench
