// SPDX-License-Identifier: BSD-3-Clause
// How L y = r and U z = y are solved: by exact sweeps, or by a fixed number of sweeps of an iteration from a zero guess,
// each as parallel as a product. With T = D(I − N), N strictly triangular and so nilpotent, the error after k sweeps is N^k
// of the first one: nothing after as many sweeps as T has levels, but N^k may grow far before.
#pragma once

namespace echelon {

enum class Trisolve { exact, jacobi, neumann, automatic };
/// y ← y + ω D⁻¹(b − T y), or y ← (1 − ω) y + ω D⁻¹(b − (T − D) y): the same but for rounding. After as many undamped
/// compact sweeps as there are levels the bits are those of the exact sweep.
enum class JacobiForm { noncompact, compact };
/// Which factors are equilibrated (factor/rows/ruiz_scaling.hpp) before they are iterated with.
enum class FactorScaling { none, lower, upper, both };

struct TrisolveOptions {
  Trisolve method = Trisolve::exact;
  /// Of the iteration, for each triangle; never more than it has levels. For `neumann` the terms of the series.
  int sweeps = 40;
  JacobiForm form = JacobiForm::noncompact;
  double damping = 1;  // ω, 0 < ω ≤ 1
  /// Block Jacobi: D is the triangle within this many consecutive block rows, solved exactly. Compact and undamped.
  int rows_a_block = 1;
  FactorScaling scaling = FactorScaling::none;
  /// Off: an iteration that is foreseen to diverge runs all the same. For study.
  bool guard = true;

  friend bool operator==(const TrisolveOptions&, const TrisolveOptions&) = default;
};

/// Whether something else than exact sweeps was asked for by name.
inline bool iterates(const TrisolveOptions& options) {
  return options.method == Trisolve::jacobi || options.method == Trisolve::neumann;
}

const char* word(Trisolve method);
const char* word(JacobiForm form);
const char* word(FactorScaling scaling);
/// Throws Error(bad_argument) naming what is out of range or does not go together.
void check_options(const TrisolveOptions& options);

}  // namespace echelon
