// SPDX-License-Identifier: BSD-3-Clause
// The one multiply-add of the row mathematics: a·b + c rounded once, on every machine. Contraction is switched off in the
// build, so nothing else fuses; inside a kernel compiled for a CPU with the instruction this is that instruction.
#pragma once

#include "echelon/base/device.hpp"

namespace echelon {

ECHELON_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
ECHELON_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

}  // namespace echelon
