// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/grid_gpu/wavefront_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "echelon/stencil/shapes.hpp"

namespace echelon {
namespace {

constexpr int warp = 32;
constexpr int copy_unit = 128;

std::int64_t rounded(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

int power_of_two_from(int n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

/// As measured; fewer when they would leave lanes without a line.
int lines_a_thread(int lines, int entries, int dof) {
  int n = entries <= 3 ? (dof == 1 ? 4 : dof <= 6 ? 2 : 1) : dof == 1 || (entries <= 6 && dof <= 3) ? 2 : 1;
  while (n > 1 && warp / dof * (n / 2) >= lines) n /= 2;
  return n;
}

bool reaches(const Wavefront& front, const Offset& o) {
  return std::abs(o.x) < front.nx && std::abs(o.y) < front.ny && std::abs(o.z) < front.nz;
}

}  // namespace

SweepTriangle sweep_triangle(const Wavefront& front, const Stencil& stencil, Triangle triangle) {
  SweepTriangle result;
  result.triangle = triangle;
  const bool lower = triangle == Triangle::lower;
  const int count = lower ? stencil.center() : stencil.size() - stencil.center() - 1, sign = lower ? -1 : 1;
  for (int q = 0; q < count; ++q) {
    const int entry = lower ? q : stencil.size() - 1 - q;
    const Offset o = stencil.offsets()[static_cast<std::size_t>(entry)];
    SweepNeighbour n{entry, 0, 0, 1};
    if (reaches(front, o)) {
      const int y = o.y + front.c * o.z, x = o.x + front.a * o.y + front.b * o.z;
      n = {entry, sign * y, sign * o.z, sign * (x + y + o.z)};
    }
    result.neighbours.push_back(n);
    result.reach_y = std::max(result.reach_y, n.dy);
    result.reach_z = std::max(result.reach_z, n.dz);
    result.deepest = std::max(result.deepest, n.behind);
    result.corner = result.corner || (n.dy > 0 && n.dz > 0);
  }
  while (result.early < count && result.neighbours[static_cast<std::size_t>(result.early)].behind > 1) ++result.early;
  return result;
}

std::vector<TileReach> tile_reaches(const SweepTriangle& triangle, TileShape tile) {
  std::set<std::pair<int, int>> found;
  for (const SweepNeighbour& n : triangle.neighbours) {
    // From the first line of a tile and from its last.
    for (int dz = n.dz / tile.z; dz <= (n.dz + tile.z - 1) / tile.z; ++dz) {
      for (int dy = n.dy / tile.y; dy <= (n.dy + tile.y - 1) / tile.y; ++dy) {
        if (dy > 0 || dz > 0) found.insert({dz, dy});
      }
    }
  }
  std::vector<TileReach> list;
  for (const auto& [dz, dy] : found) list.push_back({dy, dz});
  return list;
}

WavefrontPlan wavefront_plan(const SweepTriangle& triangle, TileShape tile, const SweepSizes& sizes,
                             const SweepTuning& wish) {
  using namespace sweep_limits;
  WavefrontPlan plan;
  const auto refuse = [&](std::string why) {
    plan.why_not = std::move(why);
    return plan;
  };
  const int b = sizes.dof, count = static_cast<int>(triangle.neighbours.size());
  const int held = count + (triangle.triangle == Triangle::upper ? 1 : 0);
  if (wish.plain) return refuse("asked for");
  if (!shapes::specialised(b)) return refuse(fmt::format("blocks of {}", b));
  if (held > entries) return refuse(fmt::format("{} entries in a triangle", held));
  if (triangle.reach_y > tile.y || triangle.reach_z > tile.z) {
    return refuse(
        fmt::format("tiles of {}x{} lines and a reach of {}x{}", tile.y, tile.z, triangle.reach_y, triangle.reach_z));
  }
  const int lines = tile.y * tile.z, lines_a_warp = warp / b;
  const auto warps_for = [&](int per_thread) {
    return (lines + lines_a_warp * per_thread - 1) / (lines_a_warp * per_thread);
  };
  const int border = ((tile.z + triangle.reach_z) * (tile.y + triangle.reach_y) - lines) * b;
  const int per_thread = wish.lines_a_thread > 0 ? wish.lines_a_thread : lines_a_thread(lines, count, b);
  plan.lines_a_thread = per_thread;
  plan.warps = warps_for(per_thread);
  plan.history = power_of_two_from(std::max({wish.history, triangle.deepest + 2, 4}));
  plan.border_warps = (border + warp - 1) / warp;
  plan.record_bytes = static_cast<int>(rounded(run_head_bytes + 4 * tile.z, 16));
  plan.r_offset = static_cast<int>(rounded(plan.record_bytes, copy_unit));
  const std::int64_t run = rounded(std::int64_t{lines} * b, 8);
  plan.values_offset = static_cast<int>(rounded(plan.r_offset + run * sizes.vector_bytes, copy_unit));
  plan.plane_bytes = (tile.z + triangle.reach_z) * (tile.y + triangle.reach_y) * b * sizes.vector_bytes;
  const std::int64_t head = head_bytes + rounded(std::int64_t{plan.history} * plan.plane_bytes, copy_unit);
  const auto stage_bytes = [&](int n) { return rounded(plan.values_offset + run * b * n * sizes.stored_bytes, copy_unit); };
  if (plan.history > history) return refuse(fmt::format("values {} levels old", triangle.deepest));

  // As many entries a stage as leave room for five stages, or as few as one.
  constexpr int stages_wanted = 5;
  int piece = std::max(1, std::min(wish.entries_a_stage > 0 ? wish.entries_a_stage : held, std::max(held, 1)));
  while (wish.entries_a_stage == 0 && piece > 1 && head + stages_wanted * stage_bytes(piece) > shared_bytes) {
    piece = (piece + 1) / 2;
  }
  plan.entries_a_stage = piece;
  plan.pieces = std::max(1, (held + piece - 1) / piece);
  plan.stage_bytes = static_cast<int>(stage_bytes(piece));
  const std::int64_t room = (shared_bytes - head) / plan.stage_bytes;
  plan.stages = static_cast<int>(std::min<std::int64_t>(wish.stages > 0 ? wish.stages : stages, room));
  // A group may wait only one turn of the ring ahead; and borders come before groups: too few warps that fetch them, and the
  // others wait.
  plan.copiers = std::max(1, std::min(wish.copiers > 0 ? wish.copiers : usual_copiers(b), plan.stages / plan.pieces));
  const int most_warps = threads / warp - plan.copiers;
  constexpr int enough_border_groups = 3;
  const auto fits = [&](int groups, int borders) {
    if (groups > plan.history || borders > plan.history) return false;  // nor a turn of the history
    return (groups == 1 || groups * plan.pieces <= plan.stages) &&
           groups * plan.warps + borders * plan.border_warps <= most_warps;
  };
  plan.groups = wish.groups > 0 ? wish.groups : b > 1 || count <= 3 || count > 6 || triangle.reach_z == 1 ? 3 : 2;
  while (plan.groups > 2 && !fits(plan.groups, enough_border_groups)) --plan.groups;
  while (plan.groups > 1 && !fits(plan.groups, 1)) --plan.groups;
  while (!copiers_can_tell(plan.copiers, plan.groups, plan.pieces, plan.stages)) --plan.copiers;
  plan.border_groups = wish.border_groups > 0 ? wish.border_groups : usual_border_groups(b);
  while (plan.border_groups > 1 && !fits(plan.groups, plan.border_groups)) --plan.border_groups;
  if (wish.poll_sleep > 0) plan.poll_sleep = wish.poll_sleep;
  plan.threads = warp * (plan.groups * plan.warps + plan.copiers + plan.border_groups * plan.border_warps);
  plan.shared_bytes = head + std::int64_t{plan.stages} * plan.stage_bytes;
  if (plan.stages < 2) return refuse("shared memory holds fewer than two stages");
  if (plan.threads > threads) return refuse(fmt::format("{} threads a block", plan.threads));
  plan.pipelined = true;
  return plan;
}

}  // namespace echelon
