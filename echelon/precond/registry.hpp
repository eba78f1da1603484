// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners by name. A new one is one line in registry.cpp; the program, the automatic choice and the self-test find
// it there. Matrices on a grid stay on it where the method has a body for that, and go through block CSR where not.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/operator.hpp"
#include "echelon/matrix/row_source.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/preconditioner.hpp"

namespace echelon {

/// The matrix to precondition, in either storage, not owned; or rows that a GPU writes where it needs them.
using MatrixRef = std::variant<const BlockCsr<double>*, const StructMatrix<double>*, std::shared_ptr<const RowSource>>;
/// Throws Error(device) for rows: the host has no body for them.
const Operator<double>& as_operator(const MatrixRef& A);

struct PrecondEntry {
  const char* name;
  const char* description;  // a line for --help
  bool takes_ilu_options;   // fill, shift, ordering and schedule mean something
  bool symmetric_only;
  std::unique_ptr<Preconditioner<double>> (*make)(const MatrixRef& A, const IluOptions& options);
  /// Of block CSR, also of one whose rows were matched first; null when the method cannot take that.
  Ilu<double> (*factor_matched)(const BlockCsr<double>& A, const IluOptions& options) = nullptr;
};

/// What a name adds to the options: the sweeps of parilu, the order of mcilu.
IluOptions options_by_name(const std::string& name, IluOptions options);

std::span<const PrecondEntry> preconditioners();
/// By name, of the matrix scaled first where the options say so.
std::unique_ptr<Preconditioner<double>> make_preconditioner(const std::string& name, const MatrixRef& A,
                                                            const IluOptions& options);
/// Throws Error(bad_argument) that lists the names.
const PrecondEntry& find_preconditioner(const std::string& name);

}  // namespace echelon
