// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a matrix drawn as SVG: the page is cut into at most 250 × 250 squares, each as dark as it is full.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace echelon {

struct SpyPlot {
  std::string title, subtitle;
  int squares = 0;            // a side
  std::vector<double> share;  // row by row: entries of a square over its places
};

/// A pattern by rows: where each begins, one more than there are rows, and its columns.
struct SpyPattern {
  std::span<const std::int64_t> row_start;
  std::span<const std::int32_t> column;
};

/// Square patterns of equally many rows over each other, such as the strict lower factor and the upper one.
SpyPlot spy_of(std::span<const SpyPattern> patterns, std::string title);
std::string spy_svg(const SpyPlot& plot);

}  // namespace echelon
