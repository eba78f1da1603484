// SPDX-License-Identifier: BSD-3-Clause
// What the optimised run does with the matrix of one level on this process's box: symmetric Gauss-Seidel, the residual where
// it is injected, the product. Points of other processes count as zero here; optimised.hpp brings them in through r.
// An implementation may keep the points in an order of its own, and vectors then have that order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"

namespace echelon::hpcg {

/// For each point of the coarser level, in its order, the place of its point on this level; empty where both are natural.
using Injection = std::span<const std::int32_t>;

/// What a call has to move between memory and processor.
struct SmootherBytes {
  double zero = 0, guess = 0, coarse_residual = 0, multiply = 0;
};

class Smoother {
 public:
  using V = Vector<double>;
  virtual ~Smoother() = default;
  /// Other values, same grid.
  virtual void refresh(const StructMatrix<double>& A) = 0;
  /// x ← a forward and a backward sweep for A x = r from x = 0, whatever x holds.
  virtual void from_zero(const V& r, V& x) = 0;
  /// The same from the x given.
  virtual void from_guess(const V& r, V& x) = 0;
  /// Where coarse_residual goes, said once where there is a coarser level.
  virtual void inject_to(Injection) {}
  /// r − A x at the points of the coarser level; called with the r and the x of the last from_zero.
  virtual void coarse_residual(const V& r, const V& x, V& coarse) = 0;
  /// y ← A x; x'y.
  virtual double multiply(const V& x, V& y) = 0;
  virtual SmootherBytes traffic() const = 0;
  virtual std::int64_t bytes() const = 0;
  /// Of vectors; places that belong to no point are zero and stay it.
  virtual std::int64_t length() const = 0;
  /// The place of each point; empty: natural order.
  virtual std::span<const std::int32_t> places() const { return {}; }
};

using MakeSmoother = std::function<std::unique_ptr<Smoother>(const StructMatrix<double>& A)>;

/// Gauss-Seidel on diagonal block rows in a block multicolour order.
MakeSmoother coloured_smoother(const BlockOptions& options);

/// What was done beyond the reference, and whether it holds on a grid only: a liberty that HPCG does not give.
struct Optimization {
  std::string name;
  bool uses_geometry = false;
};

struct SmootherKind {
  const char* name;
  const char* help;
  MakeSmoother make;
  std::vector<Optimization> optimizations;
  bool in_tiles = false;     // tile_run.hpp has the same smoother
  bool one_process = false;  // has an order of its own that the exchange between processes does not know
};

/// By which --smoother chooses; the first is the default.
const std::vector<SmootherKind>& smoother_kinds();
/// Throws Error(bad_option) that lists the names.
const SmootherKind& find_smoother(const std::string& name);

}  // namespace echelon::hpcg
