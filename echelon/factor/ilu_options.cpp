// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/ilu_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "echelon/base/error.hpp"

namespace echelon {

void check_options(const IluOptions& options) {
  const auto refuse = [](const char* what, double got, const char* legal) {
    throw Error(ErrorCode::bad_argument, fmt::format("ILU: {} is {}; legal are {}", what, got, legal));
  };
  check_options(options.trisolve);
  if (options.fill < 0) refuse("the fill level", options.fill, "0, 1, 2, …");
  if (options.factor_sweeps < 0)
    refuse("the number of fixed-point sweeps", options.factor_sweeps, "0 (exact elimination), 1, 2, …");
  if (!(options.fill_limit >= 0 && std::isfinite(options.fill_limit))) {
    refuse("the fill limit", options.fill_limit, "0 and positive numbers");
  }
  if (!(options.pivot_tolerance >= 0 && options.pivot_tolerance < 1)) {
    refuse("the pivot tolerance", options.pivot_tolerance, "0 to 1");
  }
  if (!(options.drop >= 0 && options.drop <= 1)) refuse("the drop tolerance", options.drop, "0 to 1");
  if (options.lfil < 0) refuse("lfil", static_cast<double>(options.lfil), "0, 1, 2, …");
  if (!(options.column_pivoting >= 0 && options.column_pivoting <= 1)) {
    refuse("the column pivoting", options.column_pivoting, "0 to 1");
  }
  if (!(options.first_shift > 0 && std::isfinite(options.first_shift))) {
    refuse("the first shift", options.first_shift, "positive numbers");
  }
  if (!(options.shift_value >= 0 && std::isfinite(options.shift_value))) {
    refuse("the shift", options.shift_value, "0 and positive numbers");
  }
  if (!(options.omega >= 0 && options.omega < 2)) refuse("omega", options.omega, "numbers between 0 and 2 (0: eliminate)");
  if (options.omega > 0 && (options.fill > 0 || options.factor_sweeps > 0)) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("SGS takes A's own diagonal and triangles: no fill (got {}), no fixed-point sweeps (got {})",
                            options.fill, options.factor_sweeps));
  }
}

void require_elimination(const IluOptions& options, const char* name) {
  if (options.omega > 0) {
    throw Error(ErrorCode::bad_argument, fmt::format("{} eliminates: it has no omega; got {:g}", name, options.omega));
  }
}

}  // namespace echelon
