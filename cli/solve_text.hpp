// SPDX-License-Identifier: BSD-3-Clause
// A solve told to people: short aligned lines.
#pragma once

#include <string>

#include "echelon/report/run_report.hpp"

namespace echelon::cli {

/// "poisson 64x64x64, star7: 262144 unknowns, 1810432 nonzeros"
std::string problem_text(const ProblemInfo& problem);
/// The same as the first line of the output.
std::string problem_line(const ProblemInfo& problem);
/// What happened, why, and what to try next.
std::string outcome_sentence(const RunReport& run);
std::string result_text(const RunReport& run, bool verbose);

}  // namespace echelon::cli
