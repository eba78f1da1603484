// SPDX-License-Identifier: BSD-3-Clause
// What a Krylov method needs of a matrix and of a preconditioner. A user's own fits in by two functions
// (`FunctionOperator`, `FunctionPreconditioner`), or by deriving.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "echelon/base/array.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {

template <class T>
class SharedTriangles;
template <class T>
class QueuedTriangles;

template <class T>
class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::int64_t rows() const = 0;
  /// y = A x. Sizes are checked.
  virtual void apply(const Vector<T>& x, Vector<T>& y) const = 0;
  /// r = b − A x. One pass where the matrix can; otherwise apply and subtract.
  virtual void residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const;
  /// The same with each row summed in twice the working precision: what a solver judges itself by, right also where b and
  /// A x cancel. Without a version of its own a matrix gives `residual`.
  virtual void careful_residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const { residual(b, x, r); }
  /// Largest row sum of |a_ij|, for the normwise backward error; NaN when unknown.
  virtual double norm_inf() const;
  virtual Device device() const { return Device::host(); }

  // A matrix may keep vectors in an order of its own, with padding that stays zero: then `apply` and the residuals take them
  // so, and a solver, whose user has natural order, goes there and back once.
  virtual bool has_own_order() const { return false; }
  /// Of a vector as `apply` takes it.
  virtual std::int64_t kept_size() const { return rows(); }
  /// Natural order → own order, and back. All on `device`.
  virtual void keep(const Vector<T>& natural, Vector<T>& kept) const { kept.copy_from(natural); }
  virtual void give_back(const Vector<T>& kept, Vector<T>& natural) const { natural.copy_from(kept); }
};

/// An approximate inverse M⁻¹.
template <class T>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// z = M⁻¹ r. Ours on the host: from several threads at once, but not during a refactor. On a GPU: one call at a time.
  virtual void apply(const Vector<T>& r, Vector<T>& z) const = 0;
  /// The same for several right-hand sides, as many z as r (Error(size_mismatch) otherwise) and z[k] alone may be r[k]: the
  /// bits of one by one. On a GPU factors are read once for up to eight.
  virtual void apply_many(std::span<const Vector<T>> r, std::span<Vector<T>> z) const;
  /// Where `apply` only queues its work: waits for it, and throws Error(device) when it failed.
  virtual void settle() const {}
  /// What set-up did: repairs, fill, bytes; `ok` false when it must not be used.
  virtual const FactorReport& report() const = 0;
  /// What M can do together with A when it was made from the values that A has now and shares A's triangles
  /// (sweep/shared_triangles.hpp); null otherwise. It refers to both.
  virtual std::unique_ptr<SharedTriangles<T>> shared_triangles(const Operator<T>& A) const;
  /// The same on a GPU (sweep/queued_triangles.hpp).
  virtual std::unique_ptr<QueuedTriangles<T>> queued_triangles(const Operator<T>& A) const;
};

/// Throws Error(size_mismatch) unless there are as many results as right-hand sides.
void require_as_many(std::size_t given, std::size_t results);

/// A matrix given by the function y = A x.
template <class T>
class FunctionOperator final : public Operator<T> {
 public:
  using Apply = std::function<void(const Vector<T>&, Vector<T>&)>;
  FunctionOperator(std::int64_t rows, Apply apply) : rows_(rows), apply_(std::move(apply)) {}
  std::int64_t rows() const override { return rows_; }
  void apply(const Vector<T>& x, Vector<T>& y) const override { apply_(x, y); }

 private:
  std::int64_t rows_;
  Apply apply_;
};

/// A preconditioner given by the function z = M⁻¹ r.
template <class T>
class FunctionPreconditioner final : public Preconditioner<T> {
 public:
  using Apply = std::function<void(const Vector<T>&, Vector<T>&)>;
  explicit FunctionPreconditioner(Apply apply, const char* name = "user") : apply_(std::move(apply)) { report_.name = name; }
  void apply(const Vector<T>& r, Vector<T>& z) const override { apply_(r, z); }
  const FactorReport& report() const override { return report_; }

 private:
  Apply apply_;
  FactorReport report_;
};

}  // namespace echelon
