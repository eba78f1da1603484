// SPDX-License-Identifier: BSD-3-Clause
// P and R = Pᵀ of a level, from the weights of its directions: z first on the way down, x first on the way up, in one pass
// over the fine vector; lines between two directions stay in the caches. Moved: the fine vector (up: read and written), the
// weights of z (one number a fine point), half as many of y, a quarter of x.
#pragma once

#include <cstdint>
#include <vector>

#include "echelon/base/lent_scratch.hpp"
#include "echelon/precond/mg/direction_step.hpp"
#include "echelon/precond/mg/line_kernels.hpp"
#include "echelon/precond/multilevel/level.hpp"

namespace echelon {

template <class T>
class GridTransfer final : public Transfer<T> {
 public:
  using V = Vector<T>;
  /// `steps` in the order z, y, x, each at most once; they are kept where T is double, and copied by `refresh` where not.
  GridTransfer(const Grid& fine, const std::vector<DirectionStep>& steps);
  /// The weights that the steps have now.
  void refresh();

  void restrict_to(const V& fine, V& coarse) const override;
  void correct(const V& coarse, V& fine) const override;
  std::int64_t bytes() const override;
  const Grid& coarse_grid() const { return coarse_; }

 private:
  /// Of one direction, null where it is not coarsened.
  struct Weights {
    const T *left = nullptr, *right = nullptr;
    Array<T> own_left, own_right;
    const DirectionStep* step = nullptr;
  };
  struct Scratch {
    std::vector<std::vector<T>> rooms;  // one a thread
  };
  struct Strip {
    std::int64_t j0, j1, k0, k1;  // rows and planes of the fine grid
  };

  void fit(Scratch& scratch) const;
  Strip strip_of(int thread, int team) const;
  void restrict_lines(const T* fine, T* coarse, std::int64_t begin, std::int64_t end, std::vector<T>& room) const;
  const T* gathered_in_z(const T* fine, std::int64_t j, std::int64_t K, T* out) const;
  const T* spread_in_x(const T* coarse, std::int64_t J, std::int64_t K, T* out) const;
  void correct_rows(const T* coarse, T* fine, const Strip& strip, std::vector<T>& room) const;
  void spread_in_plane(const T* coarse, std::int64_t K, const Strip& strip, T* plane) const;
  void correct_strip(const T* coarse, T* fine, const Strip& strip, std::vector<T>& room) const;
  const Weights& along(Axis axis) const { return weights_[static_cast<std::size_t>(axis)]; }

  Grid fine_, coarse_;
  Grid between_z_, between_y_, between_x_;  // where weights are
  Grid after_z_, after_y_;                  // what is left once z, and z and y are coarsened
  Weights weights_[3];
  MgTransferKernels<T> kernels_;
  LentScratch<Scratch> scratch_;
};

}  // namespace echelon
