// SPDX-License-Identifier: BSD-3-Clause
// Fixed-point sweeps for an incomplete factorization by their formula, scalars, in maps: what the fast ones must equal bit
// for bit. s_ij ← a_ij − Σ_{k < min(i,j)} s_ik d_k⁻¹ s_kj on a pattern, from s = a.
#pragma once

#include <cmath>
#include <map>
#include <vector>

#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon::reference {

using SparseRows = std::vector<std::map<int, double>>;

/// A on a larger pattern.
inline SparseRows on_pattern(const BlockCsr<double>& A, const SparseRows& pattern) {
  SparseRows S = pattern;
  for (std::size_t i = 0; i < S.size(); ++i) {
    for (auto& [j, value] : S[i]) value = A.at(static_cast<std::int64_t>(i), j);
  }
  return S;
}

/// One sweep; `changed`² is the sum of squares of the changes.
inline SparseRows swept(const BlockCsr<double>& A, const SparseRows& S, double* changed = nullptr) {
  SparseRows next = S;
  double sum = 0;
  for (std::size_t row = 0; row < S.size(); ++row) {
    const int i = static_cast<int>(row);
    for (auto& [j, value] : next[row]) {
      value = A.at(i, j);
      for (const auto& [k, s] : S[row]) {
        if (k >= i || k >= j) break;
        const auto& other = S[static_cast<std::size_t>(k)];
        const auto found = other.find(j);
        if (found != other.end()) value = std::fma(-(s * (1 / other.at(k))), found->second, value);
      }
      sum += (value - S[row].at(j)) * (value - S[row].at(j));
    }
  }
  if (changed) *changed = std::sqrt(sum);
  return next;
}

}  // namespace echelon::reference
