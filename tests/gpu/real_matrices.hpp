// SPDX-License-Identifier: BSD-3-Clause
// The real matrices, for tests on a machine to which they were carried.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "echelon/io/matrix_market.hpp"

namespace echelon {

/// Null: ECHELON_DATA does not say where they are.
inline const char* real_matrices() { return std::getenv("ECHELON_DATA"); }

/// visit(name, A) for the square ones; how many they were.
template <class Visit>
int for_real_matrices(const Visit& visit) {
  int seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(real_matrices()) / "matrices")) {
    if (file.path().string().find(".mtx") == std::string::npos) continue;
    const auto A = read_matrix_market(file.path().string()).matrix;
    if (!A.square()) continue;
    ++seen;
    visit(file.path().filename().string(), A);
  }
  return seen;
}

}  // namespace echelon
