// SPDX-License-Identifier: BSD-3-Clause
// The row permutation and scaling that put the largest possible entries on the diagonal: a perfect matching that maximises
// Π |a_{i,σ(i)}| (Duff and Koster 2001), found as a shortest-path assignment with costs log max_k |a_kj| − log |a_ij| ≥ 0.
// Its dual variables give scales with |r_i a_ij c_j| ≤ 1 and = 1 on the matching, rounded here to powers of two, so that
// scaling is exact. Zeros and entries that are not finite are no edges.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

struct WeightedMatching {
  std::vector<std::int32_t> row_of_column;  // row i goes to position σ(i)
  std::vector<double> row_scale;            // by the row's old number
  std::vector<double> column_scale;
};

/// Nothing when no perfect matching exists. Square, block size 1 (others throw Error(bad_argument));
/// will_not_fit before its arrays are allocated.
std::optional<WeightedMatching> maximum_product_matching(const BlockCsr<double>& A);

}  // namespace echelon
