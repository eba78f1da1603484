// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a matrix drawn as SVG: the page is cut into at most 250 × 250 squares, each as dark as it is full.
#pragma once

#include <string>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

struct SpyPlot {
  std::string title, subtitle;
  int squares = 0;            // a side
  std::vector<double> share;  // row by row: entries of a square over its places
};

/// L + U from the strict lower factor and the upper one with its diagonal.
SpyPlot spy_of_factors(const BlockCsr<double>& lower, const BlockCsr<double>& upper, std::string title);
std::string spy_svg(const SpyPlot& plot);

}  // namespace echelon
