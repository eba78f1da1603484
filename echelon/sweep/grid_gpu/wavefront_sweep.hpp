// SPDX-License-Identifier: BSD-3-Clause
// Exact triangular sweeps on a GPU for a matrix in tile order (stencil/tile_order.hpp), whose runs hold L, D⁻¹ and U:
//   lower: x = L⁻¹ r (unit diagonal)          upper: x = U⁻¹ r with D⁻¹ stored
// in the order of the sequential sweep, so the bits are the host's. Vectors are in the matrix's order and of type V;
// coefficients may be stored shorter. An order of another kind (skewed, user) is swept by the plain kernel. No analysis: all
// there is to prepare follows from the stencil. One at a time: the object's border words belong to one sweep.
#pragma once

#include <memory>
#include <string>

#include "echelon/base/stored.hpp"
#include "echelon/stencil/tile_order.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep_view.hpp"

namespace echelon {

struct SweepChoice {
  Stored stored = Stored::fp64;
  SweepTuning tuning;
  double patience_seconds = 10;  // after so long without a neighbour's value a sweep is given up
};

template <class V>
class WavefrontSweep {
 public:
  /// `order` must live as long as this. Throws Error(device) for an order that is on no GPU, Error(bad_argument) for storage
  /// wider than V and for stencils of more entries than a kernel takes.
  WavefrontSweep(const TileOrder& order, const SweepChoice& choice = {});

  /// Asynchronous. `values`: matrix_scalars() stored values on the device; r, x: vector_scalars() each, x may be r.
  void lower(const void* values, const V* r, V* x, double r_scale = 1) { run(lower_, values, r, x, r_scale); }
  void upper(const void* values, const V* r, V* x) { run(upper_, values, r, x, 1); }

  /// Waits for the sweeps so far. Throws Error(device) naming the tile when one had waited too long for a neighbour.
  void check();

  const WavefrontPlan& plan(Triangle triangle) const { return triangle == Triangle::lower ? lower_plan_ : upper_plan_; }
  /// What a launch is given but for the vectors; for sweeps of several (wavefront_many.hpp).
  const WavefrontSweepView& prepared(Triangle triangle) const { return triangle == Triangle::lower ? lower_ : upper_; }
  /// "ring of 8 stages, 32x16 lines, …" or "plain: why".
  std::string describe(Triangle triangle) const;
  /// Records, border words and the state, on the device.
  std::int64_t bytes() const { return records_.bytes() + words_.bytes() + state_.bytes(); }

  /// For tests: the first `skipped` tiles never run, so that the next sweep waits in vain.
  void skip_tiles(unsigned skipped);

 private:
  void prepare(Triangle triangle, WavefrontPlan& plan, WavefrontSweepView& view);
  void run(const WavefrontSweepView& prepared, const void* values, const V* r, V* x, double r_scale);

  const TileOrder& order_;
  SweepChoice choice_;
  WavefrontPlan lower_plan_, upper_plan_;
  WavefrontSweepView lower_, upper_;
  Array<std::uint8_t> records_;
  Array<std::uint64_t> words_;
  Array<SweepState> state_;
};

}  // namespace echelon
