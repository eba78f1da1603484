// SPDX-License-Identifier: BSD-3-Clause
// The options of --pc mg as front ends offer them (precond/precond_options.hpp).
#pragma once

#include "echelon/precond/precond_options.hpp"

namespace echelon {

extern const PrecondOption mg_options[4];

}  // namespace echelon
