// SPDX-License-Identifier: BSD-3-Clause
// px × py × pz processes, x fastest: rank = i + px (j + py k), and HPCG 3.1's way from a number of processes to that shape:
// one prime factor is dealt to x, y, z in turn; two or three factors stand alone, ascending, a repeated one last; of all
// else the shape of least surface counts, among those with px, py > 1, the first where exponents of small primes run
// fastest.
#pragma once

#include <array>
#include <string>

namespace echelon {

struct ProcessGrid {
  std::array<int, 3> sides{1, 1, 1};

  int size() const { return sides[0] * sides[1] * sides[2]; }
  std::array<int, 3> place(int rank) const;
  /// −1 where no process stands.
  int rank(std::array<int, 3> place) const;
  /// "2x1x1"
  std::string text() const;
  friend bool operator==(const ProcessGrid&, const ProcessGrid&) = default;
};

/// Throws Error(bad_argument) unless `processes` is positive.
ProcessGrid hpcg_process_grid(int processes);

/// Empty, or the sentence that refuses three sides of which the shortest is less than an eighth of the longest.
/// `what`: "the grid of processes", "the grid of points of a process".
std::string too_flat(std::array<int, 3> sides, const std::string& what);

}  // namespace echelon
