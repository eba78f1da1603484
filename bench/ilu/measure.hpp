// SPDX-License-Identifier: BSD-3-Clause
// One case of the ILU(0) or ILUT comparison: the matrix, how often to repeat, and the line of JSON a contender prints. Every
// contender builds its case here, so all factor the same matrix and apply to the same vector.
#pragma once

#include <functional>
#include <string>

#include "echelon/matrix/rows/block_csr.hpp"

namespace bench {

struct IluCase {
  std::string matrix;             // file, or empty
  std::string problem;            // "projection" on (grid + 1)·grid·grid nodes, when there is no file
  std::string stencil = "star7";  // with `grid`, when there is neither
  int grid = 96;
  int block = 1;  // for files: reblocked; for grids: DoF of `random`, Poisson when 1
  int threads = 1;
  int repeats = 7;
  int lfil = 20;  // of ILUT
  double drop = 1e-3;
  std::string schedule = "automatic";  // of our sweeps; "levels" and "point-to-point" force a plan that would not be chosen

  static IluCase from_command_line(int argc, char** argv);
  echelon::BlockCsr<double> make() const;
  std::string name() const;
  /// A vector that no method could special-case: sin of the row number.
  static echelon::Vector<double> right_hand_side(std::int64_t n);
};

/// Median seconds of `repeats` calls, after one that is not counted.
double median_seconds(int repeats, const std::function<void()>& work);

/// {"contender":…, "setup_seconds":…, "apply_seconds":…, "answer_norm":…, "answer_probe":…}; the driver compares answers
/// before it compares times. `factor_nonzeros` is for those whose pattern is their own; 0: not known.
void print_result(const std::string& contender, const IluCase& test_case, std::int64_t rows, std::int64_t nonzeros,
                  double setup_seconds, double apply_seconds, const echelon::Vector<double>& answer,
                  std::int64_t factor_nonzeros = 0);

}  // namespace bench
