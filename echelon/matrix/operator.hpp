// SPDX-License-Identifier: BSD-3-Clause
// What a Krylov method needs of a matrix. A user's own fits in by a function (`FunctionOperator`), or by deriving.
#pragma once

#include <cstdint>
#include <functional>

#include "echelon/base/array.hpp"

namespace echelon {

template <class T>
class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::int64_t rows() const = 0;
  /// y = A x. Sizes are checked.
  virtual void apply(const Vector<T>& x, Vector<T>& y) const = 0;
  /// r = b − A x. One pass where the matrix can; otherwise apply and subtract, on the host (Error(device) for vectors on a
  /// GPU).
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

}  // namespace echelon
