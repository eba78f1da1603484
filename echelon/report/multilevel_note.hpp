// SPDX-License-Identifier: BSD-3-Clause
// What a multilevel method made: a line for every level.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace echelon {

struct LevelNote {
  std::int64_t rows = 0, nonzeros = 0;
  std::string grid;       // "64x64x64"; empty where there is none
  std::string smoother;   // "gs"; of the last level "direct"
  std::string coarsened;  // the directions on the way to the next level: "xyz"
};

struct MultilevelNote {
  std::vector<LevelNote> levels;   // from the finest
  std::string cycle = "V";         // V, F, W
  int sweeps = 1;                  // of a smoother, before and after
  double operator_complexity = 1;  // entries of all levels over those of the first
  double grid_complexity = 1;      // unknowns of all levels over those of the first
  std::int64_t null_vectors = 0;   // of the coarsest matrix: solved on their complement
};

}  // namespace echelon
