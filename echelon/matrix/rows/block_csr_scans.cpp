// SPDX-License-Identifier: BSD-3-Clause
// The two scans that look at all values of a block CSR matrix: what is not finite, and how far it is from symmetric.
#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/threads.hpp"
#include "echelon/matrix/host_only.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

template <class T>
NonfiniteScan scan_nonfinite(const BlockCsr<T>& A) {
  require_host(A, "scan_nonfinite");
  const auto from = A.view();
  const std::int64_t b = A.block();
  NonfiniteScan scan;
  std::int64_t count = 0;
#pragma omp parallel for num_threads(threads_for(A.nonzeros())) reduction(+ : count) schedule(static)
  for (std::int64_t s = 0; s < A.nonzeros(); ++s) count += !std::isfinite(from.values[s]);
  scan.count = count;
  int found = 0;
  const int wanted = static_cast<int>(std::min<std::int64_t>(count, 5));
  for (std::int64_t row = 0; row < A.rows() && found < wanted; ++row) {
    const std::int64_t i = row / b;
    for (std::int64_t s = from.row_start[i] * b; s < from.row_start[i + 1] * b && found < wanted; ++s) {
      if (std::isfinite(from.values[s * b + row % b])) continue;
      scan.row[found] = row;
      scan.column[found++] = from.column[s / b] * b + s % b;
    }
  }
  return scan;
}

template <class T>
double asymmetry(const BlockCsr<T>& A) {
  Array<std::int64_t> work(A.block_rows());
  return asymmetry(A, work.span());
}

template <class T>
double asymmetry(const BlockCsr<T>& A, std::span<std::int64_t> work) {
  require_host(A, "asymmetry");
  const double infinity = std::numeric_limits<double>::infinity();
  if (!A.square()) return infinity;
  const auto from = A.view();
  const std::int64_t n = A.block_rows();
  const std::int64_t b = A.block();
  // next[j] walks through row j: when row i < j is visited, it must stand at column i exactly when (i, j) is stored.
  if (static_cast<std::int64_t>(work.size()) != n) throw_size_mismatch("work of asymmetry", std::ssize(work), n);
  std::copy_n(from.row_start, n, work.begin());
  std::int64_t* next = work.data();
  double largest = 0, difference = 0;
  bool has_nan = false;
  for (std::int64_t i = 0; i < n; ++i) {
    if (next[i] < from.row_start[i + 1] && from.column[next[i]] < i) return infinity;
    for (std::int64_t e = next[i]; e < from.row_start[i + 1]; ++e) {
      const std::int64_t j = from.column[e];
      if (j != i && (next[j] == from.row_start[j + 1] || from.column[next[j]] != i)) return infinity;
      const std::int64_t mirror = j == i ? e : next[j]++;
      for (std::int64_t c = 0; c < b; ++c) {
        for (std::int64_t r = 0; r < b; ++r) {
          const double here = from.values[(e * b + c) * b + r];
          const double there = from.values[(mirror * b + r) * b + c];
          largest = std::max({largest, std::abs(here), std::abs(there)});
          difference = std::max(difference, std::abs(here - there));
          has_nan = has_nan || std::isnan(here - there);
        }
      }
    }
  }
  if (has_nan) return std::numeric_limits<double>::quiet_NaN();
  return difference == 0 ? 0 : difference / largest;
}

template NonfiniteScan scan_nonfinite<double>(const BlockCsr<double>&);
template NonfiniteScan scan_nonfinite<float>(const BlockCsr<float>&);
template double asymmetry<double>(const BlockCsr<double>&);
template double asymmetry<double>(const BlockCsr<double>&, std::span<std::int64_t>);
template double asymmetry<float>(const BlockCsr<float>&, std::span<std::int64_t>);
template double asymmetry<float>(const BlockCsr<float>&);

}  // namespace echelon
