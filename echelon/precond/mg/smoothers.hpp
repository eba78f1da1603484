// SPDX-License-Identifier: BSD-3-Clause
// What smooths a level of structured multigrid, by name. A = L + D + U.
//   gs         before (D+L)⁻¹ from zero, then r − A x = −U x; after (D+U)⁻¹: two triangles less than a residual
//   symgs      a symmetric step both times      ilu, dbsr   x ← x + M⁻¹(r − A x)
//   jacobi     x ← x + ω D⁻¹(r − A x), ω = 4/(3b)      chebyshev   degree 2 on [b/4, b]; b bounds the spectrum of D⁻¹A
//   lines      exact solves along lines, every other line at a time, direction by direction; after in the reverse order
#pragma once

#include <memory>
#include <vector>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/precond/mg/axis.hpp"
#include "echelon/precond/mg/mg_options.hpp"
#include "echelon/precond/multilevel/level.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {

template <class T>
class GridSmoother : public Smoother<T> {
 public:
  /// New values, rounded to T; `A` stays where it is.
  virtual void refresh(const StructMatrix<double>& A) = 0;
  /// What factoring did, repairs among it; null where nothing is factored.
  virtual const FactorReport* factors() const { return nullptr; }
};

/// `A` must outlive it where the residual needs it. `axes`: the directions coarsened below. Throws Error that names the
/// point where the smoother cannot be made; `kind` is not automatic.
template <class T>
std::unique_ptr<GridSmoother<T>> make_smoother(MgSmoother kind, const StructMatrix<double>& A, const std::vector<Axis>& axes,
                                               const MgOptions& options);

/// "gs", "ilu"
const char* word(MgSmoother smoother);

}  // namespace echelon
