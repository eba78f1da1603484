// SPDX-License-Identifier: BSD-3-Clause
// What a case says of its problem beside name, stencil and grid, in the words of `echelon solve`. Defaults are the
// program's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echelon/problem/problems.hpp"

namespace echelon::bench {

struct ProblemWords {
  std::string coefficient = "smooth";  // of varpoisson
  double contrast = 100;
  double anisotropy[3] = {1, 1, 1};
  double peclet = 10;  // of convdiff
  double velocity[3] = {1, 0.5, 0.25};
  bool recirculating = false;
  bool closed = false;  // --boundary neumann

  /// What differs from the defaults, a blank in front of each: " regions 1000", " 1:1:100", " pe 1000 along 1,0.5,0.25".
  std::string name() const;
  /// The same as options, which `read` takes back.
  std::vector<std::string> arguments() const;
  /// False for an option that is none of these. Throws Error(bad_option) for a word or number that is not legal.
  bool read(const std::string& option, const std::string& value);

  problems::VarPoissonOptions var_poisson(std::uint64_t seed) const;
  problems::ConvDiffOptions conv_diff() const;
  problems::Boundary boundary() const;
};

}  // namespace echelon::bench
