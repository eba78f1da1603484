// SPDX-License-Identifier: BSD-3-Clause
// What a solve did. `converged` is a promise: ‖b − A x‖ ≤ max(rtol·‖b‖, atol) was recomputed from A, b and x at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echelon/base/transfers.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {

enum class Reason {
  rtol,
  atol,
  nrbe,  // converged
  max_it,
  breakdown,
  indefinite_matrix,
  indefinite_pc,
  stagnated,
  nan,
  pc_failed,
  diverged,
  interrupted,
  time_limit,
  inconsistent  // all that is left of b − A x is the part of b that no x can reach
};

/// The word of the JSON report ("max_it").
const char* word(Reason reason);
bool is_converged(Reason reason);

struct [[nodiscard]] Report {
  std::string solver;  // "cg", "gmres", …
  bool converged = false;
  Reason reason = Reason::max_it;
  std::string message;  // one sentence: what happened and the next step
  std::int64_t iterations = 0;
  double relative_residual = 1;  // ‖b−Ax‖/‖b‖ recomputed at the end (absolute when b = 0)
  double nrbe = 0;               // ‖r‖₂ / (‖b‖₂ + ‖A‖_∞ ‖x‖₂); NaN when ‖A‖ is unknown
  double inconsistent_part = 0;  // of b, over ‖b‖: along a null vector given, out of A's reach; NaN where it is not known
  std::vector<double> history;   // relative residual norm by iteration, the recurrence's; history[0] is the start
  double setup_seconds = 0, solve_seconds = 0;
  double assembly_seconds = 0,
         conversion_seconds = 0;  // on a GPU, before set-up: A's rows written there, put into its order
  std::int64_t restarts = 0;      // GMRES cycles, BiCGStab restarts
  std::int64_t residual_replacements = 0;
  std::string basis_precision = "fp64";
  std::string cg_form;           // "plain" or "eisenstat"; empty unless cg
  std::string product = "full";  // by which A was applied: "full", "half" (with the sweeps), "none" (Eisenstat)
  std::string recognised;        // "star7 on 20x20x20": block CSR that was solved as this stencil; else empty
  TransferCounts transfers;      // between host and GPU while it solved; zero on the host
  FactorReport preconditioner;
  std::vector<std::string> remarks;  // what the user should know: fallbacks, repairs, projections
};

}  // namespace echelon
