// SPDX-License-Identifier: BSD-3-Clause
// GMRES(m) and FGMRES(m) (Saad and Schultz 1986, Saad 1993): A M⁻¹ V = V₊ H by classical Gram-Schmidt, repeated where
// cancellation asks for it; min ‖β e₁ − H y‖ by Givens rotations; x ← x + M⁻¹ V y (flexible: x + Z y; left: M⁻¹A V = V₊ H).
// Two steps at a time where cancellation is mild: w₁ = B v, w₂ = B w₁, and the columns of H for both from one reading of V
// (the two-step method of Chronopoulos and Kim 1990); the history is that of single steps to rounding.
// Each cycle starts from b − A x recomputed, so a basis rounded to FP32 costs a cycle's depth, never the final accuracy.
// Vector bytes a row in step j: 16 j + 32 with FP64 (8 j + 32 in pairs), 8 j + 28 with FP32, as much again when repeated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/krylov/foretold_norms.hpp"
#include "echelon/krylov/gmres_cycles.hpp"
#include "echelon/krylov/hessenberg.hpp"

namespace echelon {
namespace {

/// Beside the frame's and the basis: v is the frame's residual, which `check` writes again after every cycle.
constexpr int own_vectors = 2;
/// Gram-Schmidt is repeated when it leaves less than this part of the vector.
constexpr double repeat_below = 0.25;
constexpr int most_passes = 3;
/// By how much a foretold norm may be off: far below what the method notices; a basis in FP32 is orthogonal to six digits.
constexpr double norm_tolerance_fp64 = 1e-9;
constexpr double norm_tolerance_fp32 = 1e-5;
/// Two steps at once are tried after a step that left at least this part of its vector.
constexpr double pair_after = 0.33;
/// A norm this far off 1 says that V is losing its orthogonality: single steps then, or a new cycle.
constexpr double pair_ends_at = 1e-8;
constexpr double cycle_ends_at = 1e-6;
/// A pair that cannot be taken has cost one operator for nothing; after so many no more are tried.
constexpr int futile_pairs_allowed = 3;
/// Longer bases would need a second large H.
constexpr int longest_paired_basis = 256;
/// Nothing is left of a vector after Gram-Schmidt: the Krylov space is exhausted.
constexpr double exhausted_below = 1e-30;
/// An FP32 basis cannot reduce the residual further within one cycle.
constexpr double fp32_cycle_depth = 2e-7;
/// Stagnation: less than 1 % over two restarts, and over so many iterations when the restart is short.
constexpr std::int64_t stagnation_iterations = 100;

/// What two steps at once need.
struct Pairs {
  Array<double> H;  // its columns as they were before rotation, each as long as the restart + 1; empty: no pairs
  Array<double> dots;
  int futile = 0;
};

struct Workspace {
  Workspace(SolveFrame& s, int columns, bool single, bool flexible)
      : V(s.n, columns, single, s.device()),
        v(s.residual),
        w(s.vector()),
        z(s.vector()),
        h(static_cast<std::int64_t>(columns) + 2),
        again(static_cast<std::int64_t>(columns) + 2),
        y(columns),
        least_squares(columns) {
    if (flexible) Z = Basis(s.n, columns, single, s.device());
    if (!flexible && !single && columns <= longest_paired_basis) {
      pairs.H = Array<double>(std::int64_t{columns} * (columns + 1));
      pairs.dots = Array<double>(std::int64_t{2} * columns + 3);
    }
  }
  Basis V, Z;
  Vector<double>& v;
  Vector<double> w, z;
  Array<double> h, again, y;
  HessenbergLeastSquares least_squares;
  std::unique_ptr<SharedTriangles<double>> shared;  // where A M⁻¹ takes half a product
  Pairs pairs;
};

struct Cycle {
  double start = 0;     // ‖v‖ before scaling
  double to_true = 1;   // true residual norm over the watched one, known at the start of a cycle (left preconditioning)
  double estimate = 0;  // of the true residual norm
  bool claims = false, exhausted = false;
  bool next_is_stored = false;  // the last step's vector is column and w already; else w times to_unit is
  double to_unit = 1;
  double part_left = 0;  // of the last step's vector by Gram-Schmidt
  bool pairs = true;     // two steps at once may be tried
};

/// to ← the operator applied to `from`; z is overwritten, and kept as column k when flexible.
void expand(SolveFrame& s, Workspace& space, const Vector<double>& from, Vector<double>& to, int k, bool flexible) {
  if (s.options.side == Side::left) {
    s.multiply(from, space.z);
    s.precondition(space.z, to);
  } else if (space.shared) {
    space.shared->precondition_and_multiply(from, space.z, to);
    if (flexible) s.ops.store(1.0, space.z, space.Z, k);
  } else {
    s.precondition(from, space.z);
    if (flexible) s.ops.store(1.0, space.z, space.Z, k);
    s.multiply(space.z, to);
  }
}

/// What Gram-Schmidt leaves of a vector.
struct Remainder {
  double norm = 0;      // of what is left
  double scale = 1;     // w holds it times this
  bool stored = false;  // and so does the next column
};

/// w ← scale (w − V V'w) for the first k + 1 columns of V. On entry h holds V'w and ‖w‖ is `before`; on return h has what
/// was taken in all.
Remainder orthogonalize(SolveFrame& s, Workspace& space, int k, double before) {
  auto& [V, Z, v, w, z, h, again, y, least_squares, shared, pairs] = space;
  const auto columns = static_cast<std::size_t>(k) + 1;
  Remainder left;
  std::span<const double> now = h.span().first(columns);
  for (int pass = 1;; ++pass) {
    // After the last column of a cycle there is none to store: the basis has as many as the restart.
    const double scale = k + 1 < y.size() ? foretold_scale(now, before) : 0;
    left.stored = scale != 0;
    const double after = left.stored ? std::sqrt(s.ops.subtract_and_store(V, now, scale, k + 1, w))
                                     : s.ops.norm_from_square(s.ops.subtract(V, now, w), w);
    left.norm = after / left.scale;
    if (left.stored) left.scale *= scale;
    if (pass == most_passes || !(after < repeat_below * before)) return left;
    before = left.norm * left.scale;
    s.ops.multi_dot(V, k + 1, w, again.span());
    for (int i = 0; i <= k; ++i) h[i] += again[i] / left.scale;
    now = again.span().first(columns);
  }
}

/// Ends the solve when the norm of w, which the operator gave, is not finite. `between` is what stood between A and M, where
/// it is still there.
bool finite_or_end(SolveFrame& s, const Vector<double>* between, const Vector<double>& w, double norm) {
  if (std::isfinite(norm)) return true;
  const bool left = s.options.side == Side::left;
  const SolveFrame::Named result{left ? "M⁻¹A v" : "A M⁻¹v", &w};
  s.end_nonfinite({between ? SolveFrame::Named{left ? "A v" : "M⁻¹v", between} : result, result},
                  left ? "‖M⁻¹A v‖" : "‖A M⁻¹v‖");
  return false;
}

/// The column in space.h goes into H and the least squares. False when the cycle ends with it.
bool add_column(SolveFrame& s, Workspace& space, Cycle& cycle) {
  const int k = space.least_squares.columns();
  const auto column = space.h.span().first(static_cast<std::size_t>(k) + 2);
  if (!space.pairs.H.empty()) std::ranges::copy(column, space.pairs.H.data() + k * (space.y.size() + 1));
  double length = 0;
  for (const double value : column) length = std::hypot(length, value);
  cycle.part_left = column.back() / length;
  const double estimate = space.least_squares.add(column) * cycle.to_true;
  const bool go_on = s.count(estimate);
  if (std::isfinite(estimate)) cycle.estimate = estimate;
  cycle.claims = s.seems_converged(estimate);
  return go_on && !cycle.claims && !cycle.exhausted;
}

/// One Arnoldi step for the w that the operator made of v_k: h holds V'w and w'w. A column of the basis and of H.
bool finish_step(SolveFrame& s, Workspace& space, Cycle& cycle) {
  const int k = space.least_squares.columns();
  auto& h = space.h;
  const double before = s.ops.norm_from_square(h[k + 1], space.w);
  if (!finite_or_end(s, &space.z, space.w, before)) return false;
  const Remainder left = orthogonalize(s, space, k, before);
  // What is left may be rounding error only; made orthogonal it is as good a direction as any, and better than giving up.
  cycle.exhausted = left.norm <= exhausted_below * before;
  const double norm_tolerance = space.V.single() ? norm_tolerance_fp32 : norm_tolerance_fp64;
  const double unit = left.norm * left.scale;
  cycle.next_is_stored = left.stored && std::abs(unit - 1) <= norm_tolerance;
  cycle.to_unit = 1 / unit;
  h[k + 1] = cycle.exhausted ? 0 : cycle.next_is_stored ? 1 / left.scale : left.norm;
  return add_column(s, space, cycle);
}

/// One Arnoldi step. False when the cycle ends with it.
bool step(SolveFrame& s, Workspace& space, Cycle& cycle, bool flexible) {
  const int k = space.least_squares.columns();
  expand(s, space, space.v, space.w, k, flexible);
  s.ops.multi_dot(space.V, k + 1, space.w, space.h.span());
  return finish_step(s, space, cycle);
}

bool may_pair(const SolveFrame& s, const Workspace& space, const Cycle& cycle) {
  return !space.pairs.H.empty() && cycle.pairs && space.pairs.futile < futile_pairs_allowed &&
         cycle.part_left >= pair_after && space.least_squares.columns() + 2 < space.y.size() &&
         s.report.iterations + 2 <= s.options.max_it;
}

/// The column of H for v₁ from B v₁ = (w₂ − B V h₁) / norm1 and B V = V₊ H; on entry space.h holds h₁ and norm1, which is
/// the column before it.
void second_column(Workspace& space, const PairPlan& plan, int k) {
  auto& h = space.h;
  const std::int64_t rows = space.y.size() + 1;
  auto& sum = space.again;
  for (int i = 0; i <= k; ++i) sum[i] = space.pairs.dots[2 * i + 1];
  sum[k + 1] = plan.along;
  for (int j = 0; j <= k; ++j) {
    for (int i = 0; i <= j + 1; ++i) sum[i] -= space.pairs.H[j * rows + i] * h[j];
  }
  for (int i = 0; i <= k + 1; ++i) h[i] = sum[i] / plan.norm1;
  h[k + 2] = plan.norm2 / plan.norm1;
}

/// Two Arnoldi steps with one reading of V for the dots and one for the update; one step where too much would cancel. False
/// when the cycle ends with them.
bool pair_step(SolveFrame& s, Workspace& space, Cycle& cycle) {
  auto& [V, Z, v, w, z, h, again, y, least_squares, shared, pairs] = space;
  const int k = least_squares.columns();
  expand(s, space, v, w, k, false);
  expand(s, space, w, v, k, false);
  s.ops.pair_dot(V, k + 1, w, v, pairs.dots.span());
  const PairPlan plan = plan_pair(pairs.dots.span(), k + 1);
  for (int i = 0; i <= k; ++i) h[i] = pairs.dots[2 * i];
  if (!plan.good) {
    // Said now: z is that of w₂ already, and a single step would not see what became of w₂.
    const double* squares = &pairs.dots[2 * (k + 1)];
    if (!finite_or_end(s, nullptr, w, s.ops.norm_from_square(squares[0], w))) return false;
    if (!finite_or_end(s, &z, v, s.ops.norm_from_square(squares[2], v))) return false;
    ++pairs.futile;
    h[k + 1] = pairs.dots[2 * (k + 1)];
    return finish_step(s, space, cycle);
  }
  const VectorOps::PairScales scales{1 / plan.norm1, plan.along, 1 / plan.norm2};
  const SumPair squares = s.ops.pair_subtract(V, k + 1, pairs.dots.span(), scales, w, v);
  const double off = std::max(std::abs(std::sqrt(squares.first) * scales.first - 1),
                              std::abs(std::sqrt(squares.second) * scales.second - 1));
  cycle.pairs = off <= pair_ends_at;
  cycle.next_is_stored = true;
  v.swap(w);  // the caller takes the next vector from w
  h[k + 1] = plan.norm1;
  if (!add_column(s, space, cycle)) return false;
  second_column(space, plan, k);
  return add_column(s, space, cycle) && off <= cycle_ends_at;
}

void update_solution(SolveFrame& s, Workspace& space, bool flexible) {
  auto& [V, Z, v, w, z, h, again, y, least_squares, shared, pairs] = space;
  const auto used = y.span().first(static_cast<std::size_t>(least_squares.columns()));
  least_squares.solve(used);
  if (flexible) {
    s.ops.combine(Z, used, z);
  } else {
    s.ops.combine(V, used, s.options.side == Side::left ? z : v);
    if (s.options.side == Side::right) s.precondition(v, z);
  }
  s.ops.axpy(1.0, z, s.x);
}

/// Starts a cycle from the frame's residual, which is v, and fills the basis. The number of columns is that of the least
/// squares.
Cycle run_cycle(SolveFrame& s, Workspace& space, double norm, bool flexible) {
  auto& [V, Z, v, w, z, h, again, y, least_squares, shared, pairs] = space;
  Cycle cycle;
  if (s.options.side == Side::left) {
    s.precondition(v, z);
    v.swap(z);
  }
  cycle.start = s.ops.norm(v);
  least_squares.start(cycle.start);
  const double inverse = 1 / cycle.start;
  if (!std::isfinite(cycle.start)) {
    s.end_nonfinite({{"M⁻¹r", &v}}, "‖M⁻¹r‖");
    return cycle;
  }
  if (!std::isfinite(inverse)) {
    s.end(Reason::breakdown, cycle.start == 0 ? "M⁻¹r = 0 for a residual r ≠ 0: the preconditioner is singular."
                                              : "The residual is too small to be scaled; scale the system.");
    return cycle;
  }
  cycle.to_true = norm / cycle.start;
  cycle.estimate = norm;
  s.ops.store(inverse, v, V, 0);
  const double floor = V.single() ? fp32_cycle_depth * norm : 0;
  while (!s.at_limit() && (may_pair(s, space, cycle) ? pair_step(s, space, cycle) : step(s, space, cycle, flexible))) {
    const int k = least_squares.columns();
    if (k == static_cast<int>(y.size()) || cycle.estimate < floor) break;
    if (!cycle.next_is_stored) s.ops.store(cycle.to_unit, w, V, k);
    v.swap(w);
  }
  return cycle;
}

/// A and M together, where half a product may be taken and is not refused. A flexible basis in FP32 has rounded its vectors
/// before the product, so it needs a whole one.
std::unique_ptr<SharedTriangles<double>> half_product(const SolveFrame& s, bool flexible) {
  const auto wish = s.options.product;
  const bool rounded = flexible && s.options.basis == BasisPrecision::fp32;
  if (wish == Product::half && (rounded || s.options.side == Side::left)) {
    throw Error(ErrorCode::bad_argument, "the half product is for right preconditioning, and for fgmres with an FP64 basis");
  }
  if (wish == Product::full || rounded || s.options.side == Side::left) return nullptr;
  return s.shared_triangles(wish == Product::half ? "the half product" : nullptr);
}

}  // namespace

int gmres_columns(std::int64_t n, const KrylovOptions& options) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1;  // VectorOps sees one more
  const std::int64_t wanted = std::min<std::int64_t>({options.restart, n, options.max_it, most});
  return static_cast<int>(std::max<std::int64_t>(wanted, 1));
}

std::int64_t gmres_bytes(std::int64_t n, const KrylovOptions& options, bool flexible) {
  const int columns = gmres_columns(n, options);
  const bool single = options.basis == BasisPrecision::fp32;
  // In floating point: with a long restart the products pass 64 bits.
  const double basis = static_cast<double>(Basis::bytes(n, 1, single)), vector = 8.0 * static_cast<double>(n);
  return saturated_bytes(basis * columns + (flexible ? basis * columns : 0.0) + own_vectors * vector +
                         8.0 * columns * columns * (columns <= longest_paired_basis ? 2 : 1));
}

void run_gmres(SolveFrame& s, bool flexible) {
  const bool single = s.options.basis == BasisPrecision::fp32;
  Workspace space(s, gmres_columns(s.rows(), s.options), single, flexible);
  s.report.basis_precision = single ? "fp32" : "fp64";
  space.shared = half_product(s, flexible);
  s.report.product = space.shared ? "half" : "full";
  s.stagnation_window = 0;
  double norm = s.ops.norm(s.residual);
  double window_norm = s.best_norm();
  std::int64_t window_cycle = s.report.restarts, window_iteration = s.report.iterations;
  while (!s.ended() && !s.at_limit()) {
    const Cycle cycle = run_cycle(s, space, norm, flexible);
    if (space.least_squares.columns() == 0) break;
    update_solution(s, space, flexible);
    ++s.report.restarts;
    if (s.ended()) break;
    const double before = norm;
    norm = s.check();
    if (s.ended()) break;
    if (cycle.claims) {
      s.claim_denied(norm);
    } else if (norm > 10 * cycle.estimate) {
      ++s.report.residual_replacements;
    }
    if (cycle.exhausted && norm > 0.99 * before && !s.ended()) {
      s.end(Reason::breakdown,
            fmt::format("The Krylov space was exhausted in iteration {} without a solution: the matrix or "
                        "the preconditioner is singular, or b is not in the range of A.",
                        s.report.iterations));
    }
    const bool window_over =
        s.report.restarts - window_cycle >= 2 && s.report.iterations - window_iteration >= stagnation_iterations;
    if (s.ended() || !window_over || !s.options.stagnation_test) continue;
    if (s.best_norm() > 0.99 * window_norm) {
      s.end(Reason::stagnated, fmt::format("The residual fell less than 1 % over {} restarts of {}; use a larger restart or "
                                           "another preconditioner.",
                                           s.report.restarts - window_cycle, space.y.size()));
    }
    window_norm = s.best_norm();
    window_cycle = s.report.restarts;
    window_iteration = s.report.iterations;
  }
}

Report gmres(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
             const KrylovOptions& options) {
  SolveFrame s("gmres", A, b, x, M, options, gmres_columns(A.rows(), options), gmres_bytes(A.kept_size(), options, false));
  if (!s.ended()) run_gmres(s, false);
  return s.finish();
}

Report fgmres(const Operator<double>& A, const Vector<double>& b, Vector<double>& x, const Preconditioner<double>& M,
              const KrylovOptions& options) {
  require_right_side("fgmres", options);
  SolveFrame s("fgmres", A, b, x, M, options, gmres_columns(A.rows(), options), gmres_bytes(A.kept_size(), options, true));
  if (!s.ended()) run_gmres(s, true);
  return s.finish();
}

}  // namespace echelon
