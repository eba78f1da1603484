// SPDX-License-Identifier: BSD-3-Clause
// What the cycle of a multilevel method needs of a level: a smoother, the way to the next level and back, and of the last
// one a solve. Structured multigrid and algebraic multigrid bring their own pieces. Vectors are on the host, in the order of
// the level's unknowns. Const members may be called by several threads at once, each with vectors of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "echelon/base/array.hpp"

namespace echelon {

/// A level's approximate solve S, before the correction from the coarse level, and its transpose behind it, so that the
/// cycle of a symmetric matrix is symmetric. `spare` is a vector of the level's size that a call may overwrite.
template <class T>
class Smoother {
 public:
  using V = Vector<T>;
  virtual ~Smoother() = default;
  /// x = S r, from x = 0; rest = r − A x.
  virtual void before(const V& r, V& x, V& rest, V& spare) const = 0;
  /// The same from the x given: x ← x + S (r − A x).
  virtual void before_again(const V& r, V& x, V& rest, V& spare) const = 0;
  /// x ← x + Sᵀ (r − A x); `rest` may be overwritten, too.
  virtual void after(const V& r, V& x, V& rest, V& spare) const = 0;
  virtual std::int64_t bytes() const = 0;
  /// "gs", "ilu(0)"
  virtual std::string name() const = 0;
};

/// P and R = Pᵀ between a level and the next.
template <class T>
class Transfer {
 public:
  using V = Vector<T>;
  virtual ~Transfer() = default;
  /// coarse = R fine
  virtual void restrict_to(const V& fine, V& coarse) const = 0;
  /// fine ← fine + P coarse
  virtual void correct(const V& coarse, V& fine) const = 0;
  virtual std::int64_t bytes() const = 0;
};

/// The last level.
template <class T>
class CoarsestSolve {
 public:
  using V = Vector<T>;
  virtual ~CoarsestSolve() = default;
  virtual std::int64_t rows() const = 0;
  virtual void solve(const V& r, V& x) const = 0;
  virtual std::int64_t bytes() const = 0;
};

/// A level that is not the last: what is done on the way down, and on the way up. A method whose smoothing and transfer run
/// in one pass over the level overrides these.
template <class T>
class Level {
 public:
  using V = Vector<T>;
  virtual ~Level() = default;
  virtual std::int64_t rows() const = 0;
  /// x = S r, coarse = R (r − A x).
  virtual void descend(const V& r, V& x, V& rest, V& spare, V& coarse) const = 0;
  /// The same from the x given.
  virtual void descend_again(const V& r, V& x, V& rest, V& spare, V& coarse) const = 0;
  /// x ← x + P correction, smoothed.
  virtual void ascend(const V& r, const V& correction, V& x, V& rest, V& spare) const = 0;
};

/// The pieces one after the other.
template <class T>
class ComposedLevel final : public Level<T> {
 public:
  using V = Vector<T>;
  /// The pieces are not owned.
  ComposedLevel(std::int64_t rows, const Smoother<T>& smoother, const Transfer<T>& transfer)
      : rows_(rows), smoother_(&smoother), transfer_(&transfer) {}
  std::int64_t rows() const override { return rows_; }
  void descend(const V& r, V& x, V& rest, V& spare, V& coarse) const override {
    smoother_->before(r, x, rest, spare);
    transfer_->restrict_to(rest, coarse);
  }
  void descend_again(const V& r, V& x, V& rest, V& spare, V& coarse) const override {
    smoother_->before_again(r, x, rest, spare);
    transfer_->restrict_to(rest, coarse);
  }
  void ascend(const V& r, const V& correction, V& x, V& rest, V& spare) const override {
    transfer_->correct(correction, x);
    smoother_->after(r, x, rest, spare);
  }

 private:
  std::int64_t rows_;
  const Smoother<T>* smoother_;
  const Transfer<T>* transfer_;
};

}  // namespace echelon
