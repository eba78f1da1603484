// SPDX-License-Identifier: BSD-3-Clause
// What a preconditioner's set-up did. Nothing is repaired in silence: every changed pivot is counted and placed here.
// Rows are in the user's numbering, before any reordering.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "echelon/report/multilevel_note.hpp"
#include "echelon/report/pivot_note.hpp"

namespace echelon {

/// What was found out about one triangle before it was iterated with; measures of factor/rows/triangle_measures.hpp.
struct TriangleNote {
  std::int64_t levels = 0;                     // so many sweeps of Jacobi are exact
  int sweeps = 0;                              // that an application takes
  double departure = 0, scaled_departure = 0;  // dep(T); after Ruiz scaling the second
  double normalised_departure = 0;             // dep(D⁻¹T)
  double condition = 0, scaled_condition = 0;  // estimates in the 1-norm
  int scaling_rounds = 0;                      // 0: not scaled
  double scaling_deviation = 0;                // the largest |1 − max| of a row or column that was left
  double growth = 0;                           // the largest bound on ‖N^k‖∞ over the sweeps, N = I − D⁻¹T
  double left_over = 0;                        // the bound after the last sweep: the share of the first error that is left
  bool probed = false;                         // the bound did not do; random vectors were taken
};

/// How the triangular systems are solved when something else than exact sweeps was asked for.
struct TrisolveNote {
  std::string asked = "exact", used = "exact";  // exact, jacobi, block jacobi, neumann, auto
  std::string why;                              // a sentence when they differ
  int sweeps = 0;                               // at most
  std::string form;                             // "compact" or "noncompact", of Jacobi
  double damping = 1;
  int rows_a_block = 1;
  std::string scaling = "none";  // of the factors
  double seconds = 0;            // of the set-up of the iteration, guard and measures included
  TriangleNote lower, upper;
};

/// What stands for A⁻¹. Sentences and advice go by it: names are many ("ilu", "paric", "mcilu") and more will come.
enum class PrecondKind {
  identity,
  diagonal,
  levels,      // L U with the entries that a level of fill allows
  thresholds,  // L U with the entries that are large
  fill_limit,  // L U with so many entries, the largest
  relaxation,  // (I + L D⁻¹)(D + U) of A's own entries: SGS, SSOR
  multilevel,  // a cycle over coarser and coarser matrices
  other
};

struct FactorReport {
  std::string name = "none";  // "ilu", "ic", "jacobi", …
  PrecondKind kind = PrecondKind::identity;
  bool symmetric = false;              // factors of a symmetric matrix: IC
  bool ok = true;                      // false: do not apply; `message` says why
  std::string message;                 // one sentence with the place, for people
  int fill = 0;                        // level of fill
  std::int64_t lfil = 0;               // ILUT: most entries a row of L, and of U
  double drop = 0;                     // ILUT: relative to the row's norm
  double column_pivoting = 0;          // ILUTP: its tolerance; 0 without
  std::int64_t fill_limited_rows = 0;  // ILUT: rows in which lfil and not drop decided: no sign of singularity
  std::int64_t column_swaps = 0;       // ILUTP: columns that changed places
  int block = 1;
  std::string ordering = "natural";
  std::string precision = "fp64";      // how the factors are stored
  std::string kernel;                  // what ran: "b=3", "generic b=11", "lines, b=1"
  std::string factor_kernel;           // what factored: "rows, b=3", "teams, b=4"; empty: nothing
  std::string schedule;                // "sequential", "levels", "point-to-point"
  std::int64_t levels = 0;             // length of the dependency chain of L, in tasks of the schedule
  double fill_ratio = 0;               // nonzeros of L+U over those of A
  std::int64_t bytes = 0;              // of the factors and their schedule
  std::int64_t missing_diagonals = 0;  // inserted as zero before factoring
  std::int64_t perturbed_pivots = 0;   // pivots replaced (boosted), in the factorization that was kept
  std::vector<PivotNote> bad_pivots;   // the first 10 met, over all attempts
  double shift = 0;                    // α of A + α·diag(row scale) that was factored; 0 when A itself was
  int shift_attempts = 0;              // factorizations thrown away on the way
  double perturbation = 0;             // ‖change of the diagonal‖∞ / ‖A‖∞, boosts and shift together
  double growth = 0;  // ‖(LU)⁻¹ e‖∞·‖A‖∞ estimated, or a bound on it below 1e8; above, a remark is made
  std::int64_t colours = 0;  // of the elimination order; 0 where it has none
  int factor_sweeps = 0;     // fixed-point sweeps instead of an elimination; 0: exact
  // Of fixed-point sweeps: ‖LU − A‖_F / ‖A‖_F on the pattern, at their start (the triangles of A) and at their end.
  double start_residual = 0, pattern_residual = 0;
  double threshold = 0;   // ParILUT: the smallest |entry| kept by the last selection, of L D^½ and D^−½ U
  double fill_limit = 0;  // ParILUT: entries of L + U at most over those of A; 0: no such limit
  double omega = 0;       // SSOR; 0: an elimination
  double symbolic_seconds = 0, numeric_seconds = 0;
  double ordering_seconds = 0;           // of the symbolic ones: what finding the elimination order took
  std::optional<TrisolveNote> trisolve;  // when asked for
  std::optional<MultilevelNote> multilevel;
  std::vector<std::string> remarks;
};

/// Whether there are factors, with pivots that may be bad.
bool has_factors(PrecondKind kind);

/// "ILU(0)", "IC(1)", "ILUT(20, 0.001)", "ILUTP(20, 0.001)", "SSOR(1.2)": for messages.
std::string title(const FactorReport& report);

}  // namespace echelon
