// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/grid_gpu/wavefront_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"

namespace echelon {
namespace {

const WavefrontSweepBackend& backend(const TileOrder& order) {
  const WavefrontSweepBackend* found = wavefront_sweep_backend();
  if (!found || order.device().is_host()) {
    throw Error(ErrorCode::device,
                fmt::format("a sweep in tile order runs on a GPU, its order is on {}", order.device().name()));
  }
  return *found;
}

/// Zeros made on the device: there may be as many as a vector has. The bits of 0.0 are none.
Array<std::uint64_t> zeros(std::int64_t n, Device device) {
  static_assert(sizeof(std::uint64_t) == sizeof(double));
  Array<std::uint64_t> words(n, device);
  cuda_backend()->fill(device.index, reinterpret_cast<double*>(words.data()), n, 0.0);
  return words;
}

}  // namespace

template <class V>
WavefrontSweep<V>::WavefrontSweep(const TileOrder& order, const SweepChoice& choice) : order_(order), choice_(choice) {
  const WavefrontSweepBackend& kernels = backend(order);
  if (bytes_of(choice.stored) > static_cast<int>(sizeof(V)) || (sizeof(V) == 4 && choice.stored != Stored::fp32)) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("a sweep on vectors of {} bytes with coefficients in {}", sizeof(V), word(choice.stored)));
  }
  prepare(Triangle::lower, lower_plan_, lower_);
  prepare(Triangle::upper, upper_plan_, upper_);
  const TileShape shape = order.vector().tiles.shape;
  // The ring's border words, then the plain kernel's progress counter a tile: one may not be taken for the other.
  const auto words = [&](const WavefrontSweepView& v) {
    return v.pipelined ? 2 * order.runs() * words_a_run(v.reach_y, v.reach_z, shape, v.dof) : std::int64_t{0};
  };
  const Device device = order.device();
  const std::int64_t ring_words = std::max(words(lower_), words(upper_));
  words_ = zeros(ring_words + order.vector().tiles.count, device);
  SweepState first;
  first.patience = static_cast<unsigned long long>(choice.patience_seconds * 1e9);
  state_ = Array<SweepState>(1, first).to(device);
  const int record_bytes = std::max(lower_plan_.record_bytes, upper_plan_.record_bytes);
  if (lower_.pipelined || upper_.pipelined) {
    records_ = Array<std::uint8_t>(order.runs() * record_bytes, device);
    kernels.make_records(device.index, order.vector(), record_bytes, records_.data());
  }
  for (WavefrontSweepView* view : {&lower_, &upper_}) {
    view->plan.record_bytes = record_bytes;
    view->records = records_.data();
    view->words = words_.data() + (view->pipelined ? 0 : ring_words);
    view->state = state_.data();
  }
}

template <class V>
void WavefrontSweep<V>::prepare(Triangle triangle, WavefrontPlan& plan, WavefrontSweepView& view) {
  const Stencil& stencil = order_.stencil();
  const LayoutView& vector = order_.vector();
  const TileShape shape = vector.tiles.shape;
  const SweepTriangle found = sweep_triangle(vector.front, stencil, triangle);
  const SweepSizes sizes{order_.dof(), static_cast<int>(sizeof(V)), bytes_of(choice_.stored)};
  SweepTuning tuning = choice_.tuning;
  if (order_.kind() != LayoutKind::tile_contiguous) tuning.plain = true;  // a ring is filled by runs
  plan = wavefront_plan(found, shape, sizes, tuning);
  view.matrix = order_.matrix();
  view.vector = vector;
  view.lower = triangle == Triangle::lower;
  view.dof = order_.dof();
  view.count = static_cast<int>(found.neighbours.size());
  view.first_entry = view.lower ? 0 : stencil.center();
  view.held = view.count + (view.lower ? 0 : 1);
  view.reach_y = found.reach_y;
  view.reach_z = found.reach_z;
  view.deepest = found.deepest;
  view.early = found.early;
  view.corner = found.corner;
  view.pipelined = plan.pipelined;
  view.plan = plan;
  view.log_history = std::countr_zero(static_cast<unsigned>(plan.history));
  const int width = (shape.y + found.reach_y) * view.dof * static_cast<int>(sizeof(V));
  const auto reaches = tile_reaches(found, shape);
  if (view.count > sweep_limits::plain_entries || reaches.size() > sweep_limits::tile_reaches) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("a triangle of {} entries that reach {} tiles: at most {} and {}", view.count, reaches.size(),
                            sweep_limits::plain_entries, sweep_limits::tile_reaches));
  }
  for (int q = 0; q < view.count; ++q) {
    const SweepNeighbour& n = found.neighbours[static_cast<std::size_t>(q)];
    view.offset[q] = stencil.offsets()[static_cast<std::size_t>(n.entry)];
    view.entry[q] = static_cast<std::int16_t>(n.entry);
    if (q < sweep_limits::entries) {
      view.place[q] = {-(n.dz * width + n.dy * view.dof * static_cast<int>(sizeof(V))), n.behind};
    }
  }
  view.tile_reaches = static_cast<int>(reaches.size());
  std::copy(reaches.begin(), reaches.end(), view.tile_reach);
}

template <class V>
void WavefrontSweep<V>::run(const WavefrontSweepView& prepared, const void* values, const V* r, V* x, double r_scale) {
  WavefrontSweepView view = prepared;
  view.values = values;
  view.r = r;
  view.x = x;
  view.r_scale = r_scale;
  wavefront_sweep_backend()->launch(order_.device().index, view, static_cast<int>(sizeof(V)), choice_.stored);
}

template <class V>
void WavefrontSweep<V>::check() {
  const Array<SweepState> now = state_.to(Device::host());
  const SweepState& state = now[0];
  if (state.first_wait == SweepState::no_wait) return;
  const SweepState fresh{.epoch = state.epoch + 1, .patience = state.patience};
  state_.copy_from(Array<SweepState>(1, fresh));
  const auto waited_for = static_cast<unsigned>(state.first_wait >> 32);
  const auto name = [&](unsigned tile) {
    const Tile& t = order_.host_tiles().tiles()[static_cast<std::size_t>(tile)];
    return fmt::format("tile {} (lines from {}, {})", tile, t.y, t.z);
  };
  throw Error(ErrorCode::device, fmt::format("a sweep on {} was given up: {} waited {} s for {}, which never came",
                                             order_.device().name(), name(static_cast<unsigned>(state.first_wait)),
                                             choice_.patience_seconds, name(waited_for >> 31 ? ~waited_for : waited_for)));
}

template <class V>
void WavefrontSweep<V>::skip_tiles(unsigned skipped) {
  Array<SweepState> now = state_.to(Device::host());
  now[0].ticket = skipped;
  state_.copy_from(now);
}

template <class V>
std::string WavefrontSweep<V>::describe(Triangle triangle) const {
  const WavefrontPlan& p = plan(triangle);
  const TileShape shape = order_.vector().tiles.shape;
  if (!p.pipelined) {
    const LayoutKind kind = order_.kind();
    const char* kept = kind == LayoutKind::user ? ", user order" : kind == LayoutKind::skewed ? ", skewed order" : "";
    return fmt::format("plain ({}), {}x{} lines{}", p.why_not, shape.y, shape.z, kept);
  }
  return fmt::format(
      "ring of {} stages of {} entries, {}x{} lines, {} a thread, {} levels kept, {} groups of {} warps, borders {} of {}, "
      "{} copying{}",
      p.stages, p.entries_a_stage, shape.y, shape.z, p.lines_a_thread, p.history, p.groups, p.warps, p.border_groups,
      p.border_warps, p.copiers,
      backend(order_).known(triangle == Triangle::lower ? lower_ : upper_, static_cast<int>(sizeof(V)), choice_.stored)
          ? ", stencil compiled in"
          : "");
}

template class WavefrontSweep<double>;
template class WavefrontSweep<float>;

}  // namespace echelon
