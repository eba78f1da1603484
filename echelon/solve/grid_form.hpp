// SPDX-License-Identifier: BSD-3-Clause
// A block CSR matrix as the stencil it is, beside its block CSR form: the automatic solve takes the one on the grid where
// that gives the same factors, so that recognition changes speed and never an answer's meaning. Private to auto_solve.
#pragma once

#include <optional>
#include <string>

#include "echelon/matrix/grid/stencil_recognition.hpp"
#include "echelon/matrix/traits.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/solve/auto_rule.hpp"

namespace echelon {

class GridForm {
 public:
  /// Nothing for a matrix that is on its grid already, for less than a thousand block rows, for what is no stencil, and
  /// without room for the copy.
  static std::optional<GridForm> of(const MatrixRef& A);

  /// Whether this choice could be made on a grid at all: where not, nobody needs to look for one.
  static bool concerns(const AutoChoice& choice);

  const StructMatrix<double>& matrix() const { return matrix_; }
  /// Whether block CSR would have the same factors: natural order, the automatic schedule, and fill 0 or one that is the
  /// graph's (fill_is_the_graphs), with no entry absent.
  bool suits(const AutoChoice& choice, const MatrixTraits& traits) const;
  /// "star7 on 20x20x20"
  std::string name() const { return describe(found_); }
  /// For people, of a solve that went this way.
  std::string sentence() const;

 private:
  explicit GridForm(RecognisedStencil found, const BlockCsr<double>& A);

  RecognisedStencil found_;
  StructMatrix<double> matrix_;
};

}  // namespace echelon
