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

bool has_factors(PrecondKind kind) {
  return kind == PrecondKind::levels || kind == PrecondKind::thresholds || kind == PrecondKind::fill_limit ||
         kind == PrecondKind::relaxation;
}

std::string title(const FactorReport& report) {
  if (report.kind == PrecondKind::thresholds) {
    return fmt::format("{}({}, {:g})", report.column_pivoting > 0 ? "ILUTP" : "ILUT", report.lfil, report.drop);
  }
  if (report.kind == PrecondKind::relaxation) return fmt::format("SSOR({:g})", report.omega);
  return fmt::format("{}({})", report.symmetric ? "IC" : "ILU", report.fill);
}

}  // namespace echelon
