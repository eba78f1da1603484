// SPDX-License-Identifier: BSD-3-Clause
// Triangles that a sweep's kernel knows when it is compiled, with everything that wavefront_plan decides
// for them: a level's cost is its instructions, four cycles each, and most of those find out what never changes. Which of
// them a view is, is found from its numbers.
#pragma once

#include <algorithm>
#include <bit>

#include "echelon/sweep/grid_gpu/wavefront_sweep_view.hpp"

namespace echelon {

/// One entry in sweep order, as SweepNeighbour.
struct NearEntry {
  int dy, dz, behind;
};

template <int N>
struct NearEntries {
  static constexpr int count = N;
  NearEntry entry[N] = {};

  constexpr int most(int NearEntry::*member) const {
    int result = 0;
    for (const NearEntry& e : entry) result = std::max(result, e.*member);
    return result;
  }
  constexpr bool corner() const {
    for (const NearEntry& e : entry) {
      if (e.dy > 0 && e.dz > 0) return true;
    }
    return false;
  }
  /// Entries before this one are at least two levels old.
  constexpr int early() const {
    int n = 0;
    while (n < N && entry[n].behind > 1) ++n;
    return n;
  }
};

namespace near_entries {
inline constexpr NearEntries<3> star7{{{0, 1, 1}, {1, 0, 1}, {0, 0, 1}}};
/// ILU(1) of star7, too.
inline constexpr NearEntries<6> diamond13{{{1, 1, 3}, {1, 1, 2}, {0, 1, 1}, {1, 0, 2}, {1, 0, 1}, {0, 0, 1}}};
inline constexpr NearEntries<6> star13{{{0, 2, 2}, {0, 1, 1}, {2, 0, 2}, {1, 0, 1}, {0, 0, 2}, {0, 0, 1}}};
inline constexpr NearEntries<12> diamond25{{{2, 2, 6},
                                            {2, 1, 5},
                                            {1, 1, 4},
                                            {1, 1, 3},
                                            {1, 1, 2},
                                            {0, 1, 1},
                                            {2, 0, 4},
                                            {1, 0, 3},
                                            {1, 0, 2},
                                            {1, 0, 1},
                                            {0, 0, 2},
                                            {0, 0, 1}}};
inline constexpr NearEntries<13> box27{{{2, 1, 7},
                                        {2, 1, 6},
                                        {2, 1, 5},
                                        {1, 1, 5},
                                        {1, 1, 4},
                                        {1, 1, 3},
                                        {0, 1, 3},
                                        {0, 1, 2},
                                        {0, 1, 1},
                                        {1, 0, 3},
                                        {1, 0, 2},
                                        {1, 0, 1},
                                        {0, 0, 1}}};
}  // namespace near_entries

/// What wavefront_plan decides for a triangle.
struct KnownTuning {
  TileShape tile;
  int lines_a_thread, groups;
};

/// All numbers of a kernel, from the entries, the unknowns a point and the plan; vectors in V.
template <const auto& Near, int Block, KnownTuning tuning, class V>
struct KnownSweep {
  static constexpr int entries = Near.count, block = Block, tile_y = tuning.tile.y, tile_z = tuning.tile.z;
  static constexpr int lines_a_thread = tuning.lines_a_thread, groups = tuning.groups;
  static constexpr int lines_a_step = 32 / Block * lines_a_thread;
  static constexpr int warps = (tile_y * tile_z + lines_a_step - 1) / lines_a_step;
  static_assert(Block > 1 || warps * lines_a_step == tile_y * tile_z);
  static constexpr int reach_y = Near.most(&NearEntry::dy), reach_z = Near.most(&NearEntry::dz);
  static constexpr int deepest = Near.most(&NearEntry::behind), early = Near.early();
  static constexpr int history = std::max(4, static_cast<int>(std::bit_ceil(static_cast<unsigned>(deepest + 2))));
  static constexpr int log_history = std::countr_zero(static_cast<unsigned>(history));
  static constexpr int width = tile_y + reach_y, point_bytes = Block * static_cast<int>(sizeof(V));
  static constexpr int plane_bytes = (tile_z + reach_z) * width * point_bytes;

  /// Threads of a block at most, and what registers that leaves to each, which are granted by four warps.
  static constexpr int border_warps = (((tile_z + reach_z) * width - tile_y * tile_z) * Block + 31) / 32;
  static constexpr int copiers = usual_copiers(Block);
  static constexpr int border_groups = std::clamp((sweep_limits::threads / 32 - copiers - groups * warps) / border_warps, 1,
                                                  std::min(usual_border_groups(Block), history));
  static constexpr int threads = 32 * (groups * warps + copiers + border_groups * border_warps);
  static constexpr int registers = sweep_limits::registers / ((threads + 127) / 128 * 128) / 8 * 8;

  ECHELON_FN static constexpr int at(int q) {
    constexpr auto near = Near;
    return -(near.entry[q].dz * width + near.entry[q].dy) * point_bytes;
  }
  ECHELON_FN static constexpr int behind(int q) {
    constexpr auto near = Near;
    return near.entry[q].behind;
  }
  /// Whether a view's plan is this one.
  static bool fits(const WavefrontSweepView& v) {
    const TileShape shape = v.vector.tiles.shape;
    const SweepBlock& p = v.plan;
    bool same = v.dof == block && v.count == entries && shape.y == tile_y && shape.z == tile_z && v.reach_y == reach_y &&
                v.reach_z == reach_z && v.deepest == deepest && v.early == early && v.corner == Near.corner() &&
                p.lines_a_thread == lines_a_thread && p.groups == groups && p.warps == warps && p.history == history &&
                p.plane_bytes == plane_bytes && p.pieces == 1 && p.border_warps > 0 && p.threads <= threads;
    for (int q = 0; q < entries && same; ++q) same = v.place[q].at == at(q) && v.place[q].behind == behind(q);
    return same;
  }
};

/// The triangles that have kernels of their own: the named stencils with the tiles and plans that wavefront_plan gives them.
/// Calls is<entries, tuning>() of block size B until one says yes.
template <int B, class Is>
bool any_known(const Is& is) {
  using namespace near_entries;
  if constexpr (B == 1) {
    return is.template operator()<star7, KnownTuning{.tile = {16, 16}, .lines_a_thread = 4, .groups = 3}>() ||
           is.template operator()<star7, KnownTuning{.tile = {32, 16}, .lines_a_thread = 4, .groups = 3}>() ||
           is.template operator()<star13, KnownTuning{.tile = {16, 16}, .lines_a_thread = 2, .groups = 2}>() ||
           is.template operator()<diamond13, KnownTuning{.tile = {16, 16}, .lines_a_thread = 2, .groups = 3}>() ||
           is.template operator()<diamond25, KnownTuning{.tile = {16, 8}, .lines_a_thread = 2, .groups = 3}>() ||
           is.template operator()<box27, KnownTuning{.tile = {16, 8}, .lines_a_thread = 2, .groups = 3}>();
  }
  if constexpr (B == 2) {
    return is.template operator()<star7, KnownTuning{.tile = {16, 8}, .lines_a_thread = 2, .groups = 3}>() ||
           is.template operator()<star13, KnownTuning{.tile = {16, 8}, .lines_a_thread = 2, .groups = 2}>() ||
           is.template operator()<diamond13, KnownTuning{.tile = {16, 8}, .lines_a_thread = 2, .groups = 3}>() ||
           is.template operator()<diamond25, KnownTuning{.tile = {8, 8}, .lines_a_thread = 1, .groups = 2}>() ||
           is.template operator()<box27, KnownTuning{.tile = {16, 4}, .lines_a_thread = 1, .groups = 3}>();
  }
  if constexpr (B == 3) {
    return is.template operator()<star7, KnownTuning{.tile = {8, 8}, .lines_a_thread = 2, .groups = 3}>() ||
           is.template operator()<star13, KnownTuning{.tile = {8, 8}, .lines_a_thread = 2, .groups = 2}>() ||
           is.template operator()<diamond13, KnownTuning{.tile = {8, 8}, .lines_a_thread = 2, .groups = 3}>() ||
           is.template operator()<diamond25, KnownTuning{.tile = {8, 4}, .lines_a_thread = 1, .groups = 2}>() ||
           is.template operator()<box27, KnownTuning{.tile = {8, 4}, .lines_a_thread = 1, .groups = 3}>();
  }
  if constexpr (B == 4) {
    return is.template operator()<star7, KnownTuning{.tile = {8, 8}, .lines_a_thread = 2, .groups = 2}>() ||
           is.template operator()<star13, KnownTuning{.tile = {8, 4}, .lines_a_thread = 1, .groups = 2}>() ||
           is.template operator()<diamond13, KnownTuning{.tile = {8, 4}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<diamond25, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<box27, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 3}>();
  }
  if constexpr (B == 5) {
    return is.template operator()<star7, KnownTuning{.tile = {8, 4}, .lines_a_thread = 2, .groups = 3}>() ||
           is.template operator()<star13, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 2}>() ||
           is.template operator()<diamond13, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<diamond25, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 2}>() ||
           is.template operator()<box27, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 3}>();
  }
  if constexpr (B == 6) {
    return is.template operator()<star7, KnownTuning{.tile = {8, 4}, .lines_a_thread = 2, .groups = 2}>() ||
           is.template operator()<star13, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 2}>() ||
           is.template operator()<diamond13, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<diamond25, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<box27, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>();
  }
  if constexpr (B == 7) {
    return is.template operator()<star7, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<star13, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<diamond13, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<diamond25, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<box27, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>();
  }
  if constexpr (B == 8) {
    return is.template operator()<star7, KnownTuning{.tile = {4, 4}, .lines_a_thread = 1, .groups = 2}>() ||
           is.template operator()<star13, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<diamond13, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<diamond25, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>() ||
           is.template operator()<box27, KnownTuning{.tile = {4, 2}, .lines_a_thread = 1, .groups = 3}>();
  }
  return false;
}

}  // namespace echelon
