// SPDX-License-Identifier: BSD-3-Clause
// What a report says when `auto` takes exact sweeps without looking at an iteration.
#pragma once

#include <string>

#include "echelon/factor/trisolve_options.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {

/// Why, for factors on a grid, on the host and on a GPU.
constexpr const char* grid_sweeps_are_exact = "factors on a grid are swept exactly";

/// Nothing when something else than `auto` was asked for.
inline void note_exact_sweeps(const TrisolveOptions& options, const std::string& why, FactorReport& report) {
  if (options.method != Trisolve::automatic) return;
  TrisolveNote& note = report.trisolve.emplace();
  note.asked = word(options.method);
  note.why = why;
}

}  // namespace echelon
