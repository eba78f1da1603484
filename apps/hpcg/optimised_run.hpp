// SPDX-License-Identifier: BSD-3-Clause
// What the benchmark and its tests ask of an optimised run, wherever it runs (optimised.hpp: the host; tile_run.hpp: a GPU).
// Vectors are in the run's own order and place, made by `zeros` and `in_own_order`.
#pragma once

#include <cstdint>
#include <string>

#include "apps/hpcg/cg_run.hpp"
#include "echelon/base/array.hpp"

namespace echelon::hpcg {

class OptimisedRun {
 public:
  using V = Vector<double>;
  virtual ~OptimisedRun() = default;

  virtual V zeros() const = 0;
  /// From natural order to the kernels'.
  virtual V in_own_order(const V& natural) const = 0;

  /// y ← A x; x'y over all processes.
  virtual double multiply(const V& x, V& y) = 0;
  /// x ← M⁻¹ r. r may be changed meanwhile, and is back afterwards.
  virtual void precondition(V& r, V& x) = 0;
  /// u'v over all processes.
  virtual double dot(const V& u, const V& v) = 0;
  /// From x = 0.
  virtual CgResult solve(const V& b, V& x, const CgRequest& request, CgSeconds& seconds) = 0;

  /// Of the finest level, in natural order.
  virtual V diagonal() const = 0;
  virtual void replace_diagonal(const V& natural) = 0;

  virtual std::int64_t bytes() const = 0;
  /// That all processes have to move for an iteration.
  virtual double iteration_bytes() const = 0;
  /// Bytes a second that this process's memory gives on arrays of about so many bytes, where the vectors are.
  virtual double bandwidth(double bytes) const = 0;
  /// The GPU's name; empty on the host.
  virtual std::string gpu() const { return {}; }
};

}  // namespace echelon::hpcg
