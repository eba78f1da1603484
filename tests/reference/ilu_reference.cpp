// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/ilu_reference.hpp"

#include <cmath>

#include "echelon/base/small_block.hpp"

namespace echelon::reference {
namespace {

template <class T>
using Block = std::vector<T>;

/// C − A·X, sums over columns ascending.
template <class T>
void subtract(int b, const Block<T>& A, const Block<T>& X, Block<T>& C) {
  for (int c = 0; c < b; ++c) {
    for (int r = 0; r < b; ++r) {
      T sum = C[c * b + r];
      for (int k = 0; k < b; ++k) sum = std::fma(-A[k * b + r], X[c * b + k], sum);
      C[c * b + r] = sum;
    }
  }
}

template <class T>
Block<T> times(int b, const Block<T>& A, const Block<T>& X) {
  Block<T> C(A.size());
  for (int c = 0; c < b; ++c) {
    for (int r = 0; r < b; ++r) {
      T sum = A[r] * X[c * b];
      for (int k = 1; k < b; ++k) sum = std::fma(A[k * b + r], X[c * b + k], sum);
      C[c * b + r] = sum;
    }
  }
  return C;
}

template <class T>
void subtract_vector(int b, const Block<T>& A, const T* x, T* y) {
  for (int r = 0; r < b; ++r) {
    for (int k = 0; k < b; ++k) y[r] = std::fma(-A[k * b + r], x[k], y[r]);
  }
}

}  // namespace

template <class T>
IluFactors<T> ilu(const BlockCsr<T>& A, int fill) {
  const int n = static_cast<int>(A.block_rows()), b = A.block();
  IluFactors<T> factors;
  factors.block = b;
  factors.lower.resize(n), factors.upper.resize(n), factors.inverse_diagonal.resize(n);
  std::vector<std::map<int, int>> level(n);
  for (int i = 0; i < n; ++i) {
    std::map<int, Block<T>> w;
    const auto zero = Block<T>(static_cast<std::size_t>(b) * b, T(0));
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
      const T* from = A.values().data() + p * b * b;
      w[A.column()[p]] = Block<T>(from, from + b * b);
      level[i][A.column()[p]] = 0;
    }
    if (!w.count(i)) w[i] = zero, level[i][i] = 0;
    for (auto at = level[i].begin(); at != level[i].end() && at->first < i; ++at) {
      for (const auto& [j, upper_level] : level[at->first]) {
        const int merged = at->second + upper_level + 1;
        if (j <= at->first || merged > fill) continue;
        const auto [entry, inserted] = level[i].try_emplace(j, merged);
        if (inserted) w[j] = zero;
        entry->second = std::min(entry->second, merged);
      }
    }
    for (auto at = w.begin(); at != w.end() && at->first < i; ++at) {
      const int k = at->first;
      at->second = times(b, at->second, factors.inverse_diagonal[k]);
      for (const auto& [j, U] : factors.upper[k]) {
        if (w.count(j)) subtract(b, at->second, U, w[j]);
      }
    }
    for (auto& [j, block] : w) {
      if (j < i) factors.lower[i][j] = block;
      if (j > i) factors.upper[i][j] = block;
    }
    factors.inverse_diagonal[i] = w[i];
    std::vector<int> swaps(b);
    invert<0>(b, factors.inverse_diagonal[i].data(), swaps.data());
  }
  return factors;
}

template <class T>
std::vector<T> apply(const IluFactors<T>& factors, const std::vector<T>& r) {
  const int n = static_cast<int>(factors.lower.size()), b = factors.block;
  std::vector<T> z = r;
  for (int i = 0; i < n; ++i) {
    for (const auto& [j, L] : factors.lower[i]) subtract_vector(b, L, &z[j * b], &z[i * b]);
  }
  for (int i = n - 1; i >= 0; --i) {
    for (auto at = factors.upper[i].rbegin(); at != factors.upper[i].rend(); ++at) {
      subtract_vector(b, at->second, &z[at->first * b], &z[i * b]);
    }
    const std::vector<T> sum(z.begin() + i * b, z.begin() + (i + 1) * b);
    const auto& D = factors.inverse_diagonal[i];
    for (int c = 0; c < b; ++c) {
      T value = D[c] * sum[0];
      for (int k = 1; k < b; ++k) value = std::fma(D[k * b + c], sum[k], value);
      z[i * b + c] = value;
    }
  }
  return z;
}

template struct IluFactors<double>;
template struct IluFactors<float>;
template IluFactors<double> ilu(const BlockCsr<double>&, int);
template IluFactors<float> ilu(const BlockCsr<float>&, int);
template std::vector<double> apply(const IluFactors<double>&, const std::vector<double>&);
template std::vector<float> apply(const IluFactors<float>&, const std::vector<float>&);

}  // namespace echelon::reference
