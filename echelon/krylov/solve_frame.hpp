// SPDX-License-Identifier: BSD-3-Clause
// What every Krylov method shares: checks of the input, the stopping rule on the recomputed residual, the best iterate, the
// history, the null space, and the words of the report. A method calls `check` when its recurrence says it is done, and
// nothing but `check` can make a solve `converged`. Private to krylov/.
// A null space: x and M⁻¹r are kept orthogonal to v. Where v is the null vector of Aᵀ, too, b's part along v is out of A's
// reach: the method sees residuals without that part, and `check` judges by those with it.
// A b far from 1 is solved as b/2ᵉ with x/2ᵉ (range_scale.hpp): everything between the constructor and `finish` is scaled.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "echelon/base/timer.hpp"
#include "echelon/base/transfers.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/krylov/vectors/vector_ops.hpp"
#include "echelon/matrix/dotted_product.hpp"
#include "echelon/sweep/queued_triangles.hpp"
#include "echelon/sweep/shared_triangles.hpp"

namespace echelon {

/// Throws Error(bad_argument): only gmres can precondition from the left.
void require_right_side(const char* solver, const KrylovOptions& options);

class SolveFrame {
 public:
  using V = Vector<double>;

  /// Checks sizes, places and options (throws), brings b and x into the matrix' own order, projects b, and checks x as
  /// given. `basis_columns` is the widest basis of the method, `method_bytes` what it will allocate itself: all is compared
  /// with the memory that is there.
  SolveFrame(const char* solver, const Operator<double>& A, const V& b, V& x, const Preconditioner<double>& M,
             const KrylovOptions& options, int basis_columns, std::int64_t method_bytes);

  const KrylovOptions& options;
  /// Length of the vectors of this solve, which live where A does and in its order.
  const std::int64_t n;

 private:
  V kept_x_;  // where A has an order of its own

 public:
  V& x;
  VectorOps ops;
  Report report;
  /// b − A x at the last `check`; between two checks the method may use it as it likes.
  V residual;
  /// Iterations without 1 % progress that end a short recurrence; 0 is off.
  std::int64_t stagnation_window = 0;

  /// A vector for this solve; in an order with padding all zero.
  V vector() const;
  Device device() const { return A_.device(); }
  /// Of the system, as its user counts.
  std::int64_t rows() const { return A_.rows(); }
  /// v ← a vector of the host in natural order.
  void assign(V& v, const V& natural) const;
  /// q = A p.
  void multiply(const V& p, V& q);
  /// A as a product that gives p·q as well; null where it is none.
  const DottedProduct* dotted_product() const { return dynamic_cast<const DottedProduct*>(&A_); }
  /// z = M⁻¹ r, kept out of the null space.
  void precondition(const V& r, V& z);
  /// A and M together, where they share their triangles and nothing else (null space, communicator) comes between. When
  /// there is none and `form` is not null, throws Error(bad_argument) saying that it was asked for.
  std::unique_ptr<SharedTriangles<double>> shared_triangles(const char* form) const;
  /// The same on a GPU.
  std::unique_ptr<QueuedTriangles<double>> queued_triangles(const char* form) const;

  bool ended() const { return ended_; }
  void end(Reason reason, std::string message);
  /// Ends with max_it when the iterations are used up.
  bool at_limit();
  /// One more iteration with this residual norm by the recurrence: history, monitor, divergence. False: stop.
  bool count(double norm);
  bool seems_converged(double norm) const { return norm <= apparent_target_; }
  /// residual ← b − A x, without the part that is out of reach, and its norm. Remembers x if it is the best so far; ends
  /// when the whole of b − A x meets the tolerance, when only the part out of reach is left, or when it is NaN.
  double check();
  /// The recurrence claimed convergence and `check` denied it: counts, and ends when that leads nowhere.
  void claim_denied(double true_norm);
  double best_norm() const { return best_norm_; }
  /// Ends with `nan`, naming the first of the vectors that holds something non-finite, or else `otherwise`.
  struct Named {
    const char* name;
    const V* vector;
  };
  void end_nonfinite(std::initializer_list<Named> vectors, const char* otherwise);

  /// The best x, its residual recomputed, and the words.
  Report finish();

 private:
  void check_input(const V& b) const;
  void check_finite(const char* what, const V& natural, const V& kept);
  void set_null_space();
  void split_right_side();
  void set_scale();
  void project(V& v);
  /// v ← 2ᵏ v; `residual` is overwritten.
  void scale(V& v, int exponent);
  /// ‖b − A x‖ with the b that was given.
  double true_residual();
  /// Reason by which `norm` meets the tolerance, if it does.
  bool meets(double norm, double norm_x, Reason& reason) const;
  void watch_backward_error(double norm_x);
  /// x as the user gets it, judged again: it may round, or overflow.
  void scale_back();
  std::string final_sentence() const;
  /// Nothing but A and M is there.
  bool alone() const { return !projected_ && !options.communicator; }
  [[noreturn]] void refuse_form(const char* form) const;

  const Operator<double>& A_;
  const Preconditioner<double>& M_;
  V& user_x_;
  TransferCounts transfers_before_;
  Timer timer_;
  V kept_b_, null_vector_;
  const V* b_;
  V best_x_;
  double norm_b_ = 0, norm_A_ = 0, atol_ = 0, target_ = 0, apparent_target_ = 0;
  double out_of_reach_ = 0;      // of b, its norm; 0 also where it is not known
  double reachable_target_ = 0;  // for what is left without it, where it alone misses the tolerance
  double true_norm_ = 0;         // of the whole b − A x at the last check
  double first_norm_ = 0, best_norm_ = 0;
  double window_norm_ = 0;
  std::int64_t window_start_ = 0;
  double denied_norm_ = 0;
  int futile_claims_ = 0;
  bool x_is_best_ = false;  // x at the last check
  bool ended_ = false, history_full_ = false;
  bool projected_ = false;     // a null space was given
  bool splits_ = false;        // and it is that of Aᵀ
  bool inconsistent_ = false;  // and b's part along it is above the tolerance
  int exponent_ = 0;           // b and x are kept divided by two to this power
};

}  // namespace echelon
