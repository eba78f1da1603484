// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/factor_report.hpp"

#include <fmt/format.h>

namespace echelon {

const char* word(PivotNote::Kind kind) {
  switch (kind) {
    case PivotNote::Kind::zero: return "zero";
    case PivotNote::Kind::tiny: return "tiny";
    case PivotNote::Kind::negative: return "negative";
    case PivotNote::Kind::nonfinite_input: return "nonfinite_input";
    case PivotNote::Kind::overflow: return "overflow";
  }
  return "zero";
}

std::string title(const FactorReport& report) {
  if (report.name == "ilut") {
    return fmt::format("{}({}, {:g})", report.column_pivoting > 0 ? "ILUTP" : "ILUT", report.lfil, report.drop);
  }
  return fmt::format("{}({})", report.name == "ic" ? "IC" : "ILU", report.fill);
}

}  // namespace echelon
