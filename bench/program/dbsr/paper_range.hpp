// SPDX-License-Identifier: BSD-3-Clause
// What a paper claims beside what was measured, as lines of a table: a ratio's range, or one bound.
#pragma once

#include <string>
#include <vector>

namespace echelon::cli {

struct PaperRange {
  std::string figure, what;
  double low = 0, high = 0;  // of the paper; equal for one number
  std::vector<double> ours;  // one for every case that has it
  bool less_is_better = false;
};

/// "met" when ours reach the range everywhere, "MISSED in 2 of 4" otherwise; ranges nothing was measured for are left out.
std::string paper_table(const std::vector<PaperRange>& ranges);

}  // namespace echelon::cli
