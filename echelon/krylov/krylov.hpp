// SPDX-License-Identifier: BSD-3-Clause
// Krylov methods. All watch ‖b − A x‖ (right preconditioning), stop by it, and recompute it from A, b and x before they
// say `converged`. Memory is taken before the first iteration; an iteration allocates nothing, so the history keeps the
// first 2²⁰ iterations only (a remark says when there were more).
//   cg        A and M symmetric positive definite; p'Ap ≤ 0 or r'z ≤ 0 ends with indefinite_matrix / indefinite_pc
//   gmres     right-preconditioned GMRES(m); the basis kept in FP64 or FP32 (arithmetic and true residual in FP64)
//   fgmres    the preconditioner may change from call to call
//   bicgstab  breakdown by relative test: new shadow vector (≤ 3), then GMRES, all reported
//   stationary  x ← x + M⁻¹(b − A x), no Krylov space: multigrid's cycles alone
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "echelon/base/array.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/comm/communicator.hpp"
#include "echelon/matrix/operator.hpp"
#include "echelon/precond/preconditioner.hpp"
#include "echelon/report/report.hpp"

namespace echelon {

enum class BasisPrecision { fp64, fp32 };
enum class Side { right, left };
/// Two sweeps and no product an iteration where A and M share their triangles (star5, star7: sweep/shared_triangles.hpp),
/// the same iterates to rounding. `automatic` takes that form where it can; a null space or a communicator needs `plain`.
enum class CgForm { automatic, plain, eisenstat };
/// A M⁻¹v by a whole product, or by half a one behind the sweeps where A and M share their triangles. gmres and fgmres.
enum class Product { automatic, full, half };

/// Asked once an iteration; on any verdict but `proceed` the best iterate is returned.
using Monitor = std::function<Verdict(std::int64_t iteration, double relative_residual)>;

struct KrylovOptions {
  double rtol = 1e-8;
  double atol = 0;
  /// Stop when ‖r‖/(‖b‖ + ‖A‖_∞‖x‖) ≤ nrbe; 0 is off. Looked at every 4 iterations, by GMRES at its restarts.
  double nrbe = 0;
  std::int64_t max_it = 1000;
  int restart = 50;
  BasisPrecision basis = BasisPrecision::fp64;
  /// Left preconditioning watches ‖M⁻¹r‖ on the way; `converged` still means the true residual. gmres only.
  Side side = Side::right;
  /// Asking for a form that A and M do not have throws Error(bad_argument).
  CgForm cg_form = CgForm::automatic;
  Product product = Product::automatic;
  /// A singular system: its null vector (e.g. all ones), to which x is kept orthogonal. Not owned. It must be one to
  /// rounding (krylov/null_vector.hpp), else Error(bad_argument). When it is that of Aᵀ, too (always for a symmetric A), the
  /// part of b along it is out of reach: residuals are still those of the b given, and when nothing but that part is left
  /// above the tolerance the solve ends with `inconsistent`, x being the least-squares solution. Otherwise b is left as it
  /// is.
  const Vector<double>* null_space = nullptr;
  Monitor monitor = nullptr;
  const Communicator* communicator = nullptr;  // null: serial
  /// Diverged when the residual exceeds this many times the first one.
  double divergence = 1e5;
  /// End when the residual fell less than 1 % over two restarts (and 100 iterations); for cg and bicgstab over 2n
  /// iterations, at least 500 and at most 20,000.
  bool stagnation_test = true;
};

Report cg(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
          const KrylovOptions& options = {});
Report gmres(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
             const KrylovOptions& options = {});
Report fgmres(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
              const KrylovOptions& options = {});
Report bicgstab(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
                const KrylovOptions& options = {});
Report stationary(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
                  const KrylovOptions& options = {});

/// "cg", "gmres", "fgmres", "bicgstab", "stationary"
std::span<const std::string> solver_names();
/// By name; throws Error(bad_argument) that lists them.
Report solve(const std::string& solver, const Operator<double>& A, const Vector<double>& b, Vector<double>& x,
             const Preconditioner<double>& M, const KrylovOptions& options = {});

}  // namespace echelon
