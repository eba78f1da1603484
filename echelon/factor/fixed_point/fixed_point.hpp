// SPDX-License-Identifier: BSD-3-Clause
// ILU by fixed-point sweeps instead of elimination (E. Chow and A. Patel, SIAM J. Sci. Comput. 37, 2015), for L·D = S below
// the diagonal, D = S on it and U = S above:
//   s_ij ← a_ij − Σ_{k < min(i,j)} s_ik d_k⁻¹ s_kj   on the pattern, all entries at once from the last sweep's,
// from S = A with zeros on fill. Synchronous, so the bits depend on nothing but A and the number of sweeps; symmetric where
// A is; invariant under row and column scaling. An entry is final one sweep after those it needs, so the exact factors, bit
// for bit, stand after as many sweeps as the longest chain. The change of a sweep is (LU − A) on the pattern before it.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "echelon/factor/pivots/factor_bounds.hpp"
#include "echelon/factor/rows/ilu_numeric.hpp"
#include "echelon/factor/rows/triangles.hpp"

namespace echelon {

/// Sums are taken over so many rows first, then over these parts: one order for all threads, and for a GPU.
inline constexpr std::int64_t fixed_point_part_rows = 1024;

/// `rows` holds where the new iterate goes (its lower part is S, not L); the others are the last one.
template <class T>
struct FixedPointView {
  FactorView<T> rows;
  const T* lower;
  const T* upper;
  const T* inverse_diagonal;
  double unit = 1;  // sums of squares are of values times this, a power of two near 1/max|a_ij|
};

template <class T>
struct FixedPointKernels {
  using Sweep = double (*)(const FixedPointView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work);
  using Scale = FactorBounds (*)(const FactorView<T>& view, std::int64_t begin, std::int64_t end, RowWorkspace<T>& work);
  Sweep start = nullptr;   // S ← A; gives Σ|a_ij|²
  Sweep sweep = nullptr;   // gives Σ|change|²
  Scale finish = nullptr;  // L ← S D⁻¹; blocks are not bounded
};

/// Narrow kernels (16-bit distances) exist for block 1.
template <class T>
FixedPointKernels<T> fixed_point_kernels(int block, bool narrow);
/// "fixed-point sweeps, b=3", for reports.
std::string fixed_point_kernel_name(int block, bool narrow);

/// What the sweeps came to: ‖LU − A‖_F / ‖A‖_F on the pattern, of the start (L, U the triangles of A) and of the end.
struct FixedPointOutcome {
  double start_residual = 0, residual = 0;
  double norm = 0, change = 0;  // ‖A‖∞, and the largest change of the diagonal by shift and repairs
  double inverse_bound = std::numeric_limits<double>::infinity();  // on ‖(LU)⁻¹‖∞
  /// Not finite, or farther from A than the start, beyond rounding.
  bool diverged() const;
  /// For the breakdown policy: a bound on ‖(LU)⁻¹‖∞·‖A‖∞ where it says enough, otherwise what `estimate` finds of the first
  /// factor on e, times the second.
  template <class Estimate>
  double growth(const Estimate& estimate) const {
    if (diverged()) return std::numeric_limits<double>::infinity();
    return growth_by(inverse_bound, norm, estimate);
  }
  /// The residuals, and why when that is why the factorization failed. `title` is "ParILU(0)", `sweeps` what there were
  /// `count` of: "fixed-point sweeps".
  void tell(const std::string& title, int count, const char* sweeps, const PivotLog& log, FactorReport& report) const;
};

/// A power of two near 1/max|a_ij|, so that squares of its multiples neither overflow nor vanish; 1 without such.
double fixed_point_unit(double largest);
template <class T>
double fixed_point_unit(const BlockCsrView<T>& A);

/// The second iterate, and the sweeps.
template <class T>
class FixedPoint {
 public:
  FixedPoint() = default;
  explicit FixedPoint(const Triangles<T>& factors);

  /// `view` is that of an exact factorization; bad pivots of the last sweep go to its log, those on the way are replaced as
  /// its rules say and forgotten. One workspace a thread. Allocates nothing.
  FixedPointOutcome run(const FactorView<T>& view, int sweeps, std::vector<RowWorkspace<T>>& workspaces);
  std::int64_t bytes() const {
    return lower_.bytes() + upper_.bytes() + inverse_diagonal_.bytes() + sums_.bytes() + bounds_.bytes();
  }

 private:
  FixedPointKernels<T> kernels_;
  Array<T> lower_, upper_, inverse_diagonal_;
  Array<double> sums_;  // one a part of the rows
  Array<FactorBounds> bounds_;
  PivotLog passing_;  // of sweeps on the way
};

}  // namespace echelon
