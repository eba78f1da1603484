// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/grid_gpu/wavefront_many.hpp"

#include <algorithm>
#include <bit>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"

namespace echelon {
namespace {

constexpr int warp = 32, most_warps_a_group = 8, fewest_stages = 3;

}  // namespace

WavefrontPlan many_wavefront_plan(const SweepTriangle& triangle, TileShape tile, int dof, int columns) {
  WavefrontPlan none;
  if (dof > WavefrontManyView::most_columns || (dof > 1 && columns > 4)) {
    none.why_not = "no kernel";
    return none;
  }
  // Measured: eight on 27 entries take longer than twice four, for want of room in the ring.
  constexpr std::size_t most_entries_of_eight = 6;
  if (columns > 4 && triangle.neighbours.size() > most_entries_of_eight) {
    none.why_not = "four at a time are faster";
    return none;
  }
  // Two lines a thread leave warps for the borders, whose words are asked for by several groups.
  const int lanes = tile.y * tile.z, lines_a_warp = warp / dof;
  SweepTuning wish;
  wish.lines_a_thread = dof == 1 && lanes >= 4 * warp ? 2 : 1;
  wish.groups = 2;
  wish.copiers = 1;
  if ((lanes + lines_a_warp * wish.lines_a_thread - 1) / (lines_a_warp * wish.lines_a_thread) > most_warps_a_group) {
    wish.groups = 1;
  }
  WavefrontPlan plan = wavefront_plan(triangle, tile, {dof, 8 * columns, 8}, wish);
  if (plan.pipelined && plan.stages < fewest_stages) {
    plan.pipelined = false;
    plan.why_not = "too few stages to copy ahead";
  }
  return plan;
}

WavefrontMany::WavefrontMany(const TileOrder& order, WavefrontSweep<double>& single, Stored stored)
    : device_(order.device().index), single_(single) {
  const bool possible = wavefront_many_backend() && stored == Stored::fp64 && single.prepared(Triangle::lower).pipelined &&
                        single.prepared(Triangle::upper).pipelined;
  if (!possible) return;
  for (const int columns : {8, 4, 2}) add_kind(order, columns);
  if (kinds_ == 0) return;
  // A launch's epoch is in every word, so kinds may take turns in the same memory. The bits of 0.0 are none.
  const Kind& largest = kind_[0];
  const auto words = [&](const WavefrontSweepView& v) {
    return 2 * order.runs() * words_a_run(v.reach_y, v.reach_z, v.vector.tiles.shape, v.dof) * largest.columns;
  };
  const std::int64_t count = std::max(words(largest.lower.sweep), words(largest.upper.sweep));
  require_memory(count * 8, "sweeps of several vectors", order.device());
  words_ = Array<std::uint64_t>(count, order.device());
  if (!words_.empty()) cuda_backend()->fill(device_, reinterpret_cast<double*>(words_.data()), words_.size(), 0.0);
  for (int n = 0; n < kinds_; ++n) {
    kind_[n].lower.sweep.words = words_.data();
    kind_[n].upper.sweep.words = words_.data();
  }
}

/// Where both triangles have a plan.
void WavefrontMany::add_kind(const TileOrder& order, int columns) {
  Kind kind{columns, {}, {}};
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const WavefrontSweepView& single = single_.prepared(triangle);
    const SweepTriangle found = sweep_triangle(order.vector().front, order.stencil(), triangle);
    const WavefrontPlan plan = many_wavefront_plan(found, order.vector().tiles.shape, order.dof(), columns);
    if (!plan.pipelined) return;
    WavefrontManyView& view = triangle == Triangle::lower ? kind.lower : kind.upper;
    view.columns = columns;
    view.sweep = single;
    view.sweep.plan = plan;
    view.sweep.plan.record_bytes = single.plan.record_bytes;
    view.sweep.log_history = std::countr_zero(static_cast<unsigned>(plan.history));
  }
  kind_[kinds_++] = kind;
}

/// As many at once as there is a kind for; what is left alone by `one`.
template <class Single>
void WavefrontMany::run(Triangle triangle, const void* values, std::span<const double* const> r, std::span<double* const> x,
                        const Single& one) {
  if (r.size() != x.size())
    throw_size_mismatch("vectors of a sweep", static_cast<std::int64_t>(x.size()), static_cast<std::int64_t>(r.size()));
  std::size_t done = 0;
  for (int n = 0; n < kinds_; ++n) {
    WavefrontManyView view = triangle == Triangle::lower ? kind_[n].lower : kind_[n].upper;
    view.sweep.values = values;
    const auto columns = static_cast<std::size_t>(view.columns);
    for (; r.size() - done >= columns; done += columns) {
      std::copy_n(r.begin() + static_cast<std::ptrdiff_t>(done), columns, view.r);
      std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(done), columns, view.x);
      wavefront_many_backend()->launch(device_, view);
    }
  }
  for (; done < r.size(); ++done) one(r[done], x[done]);
}

void WavefrontMany::lower(const void* values, std::span<const double* const> r, std::span<double* const> x, double r_scale) {
  run(Triangle::lower, values, r, x, [&](const double* from, double* to) { single_.lower(values, from, to, r_scale); });
}

void WavefrontMany::upper(const void* values, std::span<const double* const> r, std::span<double* const> x) {
  run(Triangle::upper, values, r, x, [&](const double* from, double* to) { single_.upper(values, from, to); });
}

}  // namespace echelon
