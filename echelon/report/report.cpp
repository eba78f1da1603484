// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/report.hpp"

namespace echelon {

const char* word(Reason reason) {
  switch (reason) {
    case Reason::rtol: return "rtol";
    case Reason::atol: return "atol";
    case Reason::nrbe: return "nrbe";
    case Reason::max_it: return "max_it";
    case Reason::breakdown: return "breakdown";
    case Reason::indefinite_matrix: return "indefinite_matrix";
    case Reason::indefinite_pc: return "indefinite_pc";
    case Reason::stagnated: return "stagnated";
    case Reason::nan: return "nan";
    case Reason::pc_failed: return "pc_failed";
    case Reason::diverged: return "diverged";
    case Reason::interrupted: return "interrupted";
    case Reason::time_limit: return "time_limit";
    case Reason::inconsistent: return "inconsistent";
  }
  return "breakdown";
}

bool is_converged(Reason reason) { return reason == Reason::rtol || reason == Reason::atol || reason == Reason::nrbe; }

}  // namespace echelon
