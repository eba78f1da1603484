// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners by name. A new one is one entry in registry.cpp, and a member of PrecondOptions if it has options of its
// own; the program, the automatic choice and the self-test ask the entry and compare no names. Matrices on a grid stay on it
// where the method has a body for that, and go through block CSR where not.
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
#include "echelon/precond/precond_options.hpp"
#include "echelon/precond/preconditioner.hpp"

namespace echelon {

class TileMatrix;

/// The matrix to precondition, in either storage, not owned; or rows that a GPU writes where it needs them.
using MatrixRef = std::variant<const BlockCsr<double>*, const StructMatrix<double>*, std::shared_ptr<const RowSource>>;
/// Throws Error(device) for rows: the host has no body for them.
const Operator<double>& as_operator(const MatrixRef& A);

/// What is true and null unless said otherwise is a method of the host, of any matrix, with no options of its own.
struct PrecondEntry {
  using Made = std::unique_ptr<Preconditioner<double>>;

  const char* name;
  const char* description;  // a line for --help
  PrecondKind kind = PrecondKind::other;
  bool takes_ilu_options = false;  // fill, shift, ordering, schedule and how triangles are solved mean something
  bool symmetric_only = false;
  bool scalars_only = false;  // blocks of size 1
  /// Of the matrix as it is: rows matched and scalings are make_preconditioner's.
  Made (*make)(const MatrixRef& A, const PrecondOptions& options);
  /// Of block CSR, also of one whose rows were matched first; null when the method cannot take that.
  Ilu<double> (*factor_matched)(const BlockCsr<double>& A, const IluOptions& options) = nullptr;

  /// The options that are its own, and others have not.
  std::span<const std::span<const PrecondOption>> own = {};
  /// What its name adds to the options, also to nothing; null: nothing.
  void (*complete)(PrecondOptions& options) = nullptr;
  /// Why options that others take do not go with this one, a sentence; empty when they do. Null: all do.
  std::string (*refuse)(const PrecondOptions& options, const OptionGiven& given) = nullptr;
  /// Which of several refusals a user is told is kept: these come behind those about iterated triangles.
  bool refuses_late = false;
  /// The options a choice is called by, "(2)"; null: none.
  std::string (*parameters)(const PrecondOptions& options) = nullptr;

  /// On a GPU, from a matrix on a grid in the order of the options' fill, and from block CSR, of which `on_gpu` is a copy
  /// there. Null: not there. Throw as the host's version does.
  Made (*make_from_grid)(const TileMatrix& on_gpu, const PrecondOptions& options, double asymmetry) = nullptr;
  Made (*make_from_rows)(const BlockCsr<double>& A, const BlockCsr<double>& on_gpu, const PrecondOptions& options,
                         bool looks_definite) = nullptr;
  /// Why both are null, a clause; null: it says just that.
  const char* host_only = nullptr;
  /// Whether a GPU takes block CSR of a matrix on a grid; null: never.
  bool (*leaves_grid)(const PrecondOptions& options) = nullptr;
  /// Block CSR that is a stencil goes to its grid, and is solved sooner there (solve/grid_form.hpp): with the same factors,
  /// or, where the method has an order of its own, in that of the grid's boxes.
  bool takes_recognised_grids = false;
};

std::span<const PrecondEntry> preconditioners();
/// Throws Error(bad_argument) that lists the names.
const PrecondEntry& find_preconditioner(const std::string& name);
/// Null where there is none.
const PrecondEntry* look_up_preconditioner(const std::string& name);

/// By name, of the matrix scaled, or its rows matched, first where the options say so.
std::unique_ptr<Preconditioner<double>> make_preconditioner(const std::string& name, const MatrixRef& A,
                                                            const PrecondOptions& options);
/// What a name adds to the options: the sweeps of parilu, the order of mcilu.
PrecondOptions options_by_name(const std::string& name, PrecondOptions options);

/// All options, in the order of the help; and the methods whose own one is: empty when factorizations share it.
std::vector<const PrecondOption*> precond_options();
std::vector<const PrecondEntry*> owners_of(const PrecondOption& option);

}  // namespace echelon
