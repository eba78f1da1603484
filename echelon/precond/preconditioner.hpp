// SPDX-License-Identifier: BSD-3-Clause
// What a Krylov method needs of a preconditioner. A user's own fits in by a function (`FunctionPreconditioner`), or by
// deriving.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "echelon/base/array.hpp"
#include "echelon/matrix/operator.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {

template <class T>
class SharedTriangles;
template <class T>
class QueuedTriangles;

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

/// A preconditioner given by the function z = M⁻¹ r.
template <class T>
class FunctionPreconditioner final : public Preconditioner<T> {
 public:
  using Apply = std::function<void(const Vector<T>&, Vector<T>&)>;
  explicit FunctionPreconditioner(Apply apply, const char* name = "user") : apply_(std::move(apply)) {
    report_.name = name;
    report_.kind = PrecondKind::other;
  }
  void apply(const Vector<T>& r, Vector<T>& z) const override { apply_(r, z); }
  const FactorReport& report() const override { return report_; }

 private:
  Apply apply_;
  FactorReport report_;
};

}  // namespace echelon
