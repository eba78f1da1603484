// SPDX-License-Identifier: BSD-3-Clause
// The library counts rows from zero, as its callers do; files and the people who read the program's output count from one.
#pragma once

#include <string>

#include "echelon/report/report.hpp"

namespace echelon::cli {

/// Every "row 57" becomes "row 58".
std::string rows_from_one(const std::string& sentence);
/// The same for what the set-up said.
void count_rows_from_one(Report& report);

}  // namespace echelon::cli
