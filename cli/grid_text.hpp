// SPDX-License-Identifier: BSD-3-Clause
// Grids as text: "64", "64x32", "64x32x16".
#pragma once

#include <string>

#include "echelon/stencil/stencil.hpp"

namespace echelon::cli {

/// With a stencil of two or three dimensions, which one number alone needs. Throws Error(bad_option).
Grid parse_grid(const std::string& text, const Stencil& stencil);
/// How many numbers a grid has: 1, 2 or 3.
int grid_extents(const std::string& text);

}  // namespace echelon::cli
