// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/factor_report.hpp"

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

}  // namespace echelon
