// SPDX-License-Identifier: BSD-3-Clause
// In which order a multilevel cycle visits its levels (precond/multilevel/cycle.hpp).
#pragma once

namespace echelon {

enum class CycleShape { v, f, w };

/// "V", "F", "W"
inline const char* word(CycleShape shape) {
  switch (shape) {
    case CycleShape::v: return "V";
    case CycleShape::f: return "F";
    case CycleShape::w: return "W";
  }
  return "V";
}

}  // namespace echelon
