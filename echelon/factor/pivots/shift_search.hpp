// SPDX-License-Identifier: BSD-3-Clause
// The breakdown policy (factor/pivots/breakdown.hpp) for factorizations that know what they cost. Its search for a shift
// doubles it at most 20 times; where one factorization is much work it takes few and large steps instead, from the shift
// that a cheaper factorization of the same matrix needs.
#pragma once

#include <functional>
#include <string>

#include "echelon/factor/pivots/breakdown.hpp"

namespace echelon {

/// What the search may know about its factorization. Without it, attempts count as cheap.
struct AttemptCost {
  std::function<double()> operations;     // of one attempt (factor/work_budget.hpp); asked when a shift is looked for
  std::function<double()> cheaper_shift;  // that a cheaper factorization of the same matrix needs; 0: none, or not known
};

/// As the one without a cost. When `factor` or `growth` throws, the report is left not ok: what an attempt began is no
/// factorization.
void factor_with_policy(const IluOptions& options, bool positive_definite, const std::string& name, PivotLog& log,
                        const std::function<void(const Attempt&)>& factor, const std::function<double()>& growth,
                        FactorReport& report, const AttemptCost& cost);

/// From here on a factorization is not repeated twenty times: some tenths of a second on one core.
inline constexpr double costly_operations = 5e8;
inline constexpr int most_costly_shifts = 4;
inline constexpr double costly_step = 8;

}  // namespace echelon
