// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/trisolve_options.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"

namespace echelon {

const char* word(Trisolve method) {
  switch (method) {
    case Trisolve::exact: return "exact";
    case Trisolve::jacobi: return "jacobi";
    case Trisolve::neumann: return "neumann";
    case Trisolve::automatic: return "auto";
  }
  return "";
}

const char* word(JacobiForm form) { return form == JacobiForm::compact ? "compact" : "noncompact"; }

const char* word(FactorScaling scaling) {
  switch (scaling) {
    case FactorScaling::none: return "none";
    case FactorScaling::lower: return "lower";
    case FactorScaling::upper: return "upper";
    case FactorScaling::both: return "both";
  }
  return "";
}

void check_options(const TrisolveOptions& options) {
  const auto refuse = [](const std::string& sentence) {
    throw Error(ErrorCode::bad_argument, "iterated triangular solves: " + sentence);
  };
  if (options.sweeps < 1) refuse(fmt::format("the number of sweeps is {}; legal are 1, 2, …", options.sweeps));
  if (!(options.damping > 0 && options.damping <= 1)) {
    refuse(fmt::format("the damping is {}; legal are numbers above 0 up to 1", options.damping));
  }
  if (options.rows_a_block < 1) refuse(fmt::format("a block has {} rows; legal are 1, 2, …", options.rows_a_block));
  if (options.rows_a_block > 1 && (options.damping != 1 || options.method == Trisolve::neumann)) {
    refuse("blocks of rows go with undamped Jacobi only");
  }
  if (options.damping != 1 && options.method == Trisolve::neumann) refuse("the Neumann polynomial has no damping");
}

}  // namespace echelon
