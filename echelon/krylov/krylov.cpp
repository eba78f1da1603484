// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/krylov.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"

namespace echelon {

Report solve(const std::string& solver, const Operator<double>& A, const Vector<double>& b, Vector<double>& x,
             const Preconditioner<double>& M, const KrylovOptions& options) {
  if (solver == "cg") return cg(A, b, x, M, options);
  if (solver == "gmres") return gmres(A, b, x, M, options);
  if (solver == "fgmres") return fgmres(A, b, x, M, options);
  if (solver == "bicgstab") return bicgstab(A, b, x, M, options);
  throw Error(ErrorCode::bad_argument,
              fmt::format("there is no solver '{}'; there are cg, gmres, fgmres and bicgstab", solver));
}

}  // namespace echelon
