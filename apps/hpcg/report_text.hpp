// SPDX-License-Identifier: BSD-3-Clause
// The report as HPCG 3.1 writes it, line by line "Section::Key=value", so that what reads those reads this; and the few
// lines that the program prints.
#pragma once

#include <string>

#include "apps/hpcg/outcome.hpp"

namespace echelon::hpcg {

/// Of a completed run.
std::string report_text(const Outcome& outcome);
/// For people: what ran, the tests, the rating and what it is of the bound.
std::string summary_text(const Outcome& outcome);

}  // namespace echelon::hpcg
