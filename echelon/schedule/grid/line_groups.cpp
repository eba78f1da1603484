// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/grid/line_groups.hpp"

#include <map>

namespace echelon {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Steps that must be done beyond the own one to have the point x further along.
std::int64_t steps_ahead(int x, int width) { return x > 0 ? ceil_div(x, width) : 0; }

/// A line of the same group must be so many steps behind that what it needs was done in an earlier step.
int least_lag(std::span<const Offset> earlier, const LineGroups::Shape& shape) {
  std::int64_t lag = shape.least_lag;
  for (const Offset& o : earlier) {
    if (o.z == 0 && o.y < 0 && -o.y < shape.lines) {
      lag = std::max(lag, ceil_div(steps_ahead(o.x, shape.width) + 1, -o.y));
    }
  }
  return static_cast<int>(lag);
}

}  // namespace

LineGroups::LineGroups(const Grid& grid, std::span<const Offset> earlier, Shape shape, int threads)
    : grid_(grid), shape_(shape), lag_(least_lag(earlier, shape)) {
  groups_ = ceil_div(grid.ny, shape.lines);
  steps_ = ceil_div(grid.nx, shape.width) + std::int64_t{lag_} * (shape.lines - 1);
  threads_ = static_cast<int>(std::clamp<std::int64_t>(threads, 1, groups_));
  // In stripes a thread starts a plane when the one before it has done its part of it. With fewer planes than threads,
  // neighbouring groups run side by side instead, a piece of a line behind each other. Each look at another thread's
  // progress costs a trip between the cores: long lines are cut in long pieces, but every thread has some to do.
  constexpr std::int64_t most_steps_between_looks = 48;
  cyclic_ = grid.nz < threads_;
  chunk_ = cyclic_ ? std::clamp<std::int64_t>(steps_ / (2 * threads_), 1, most_steps_between_looks) : steps_;
  const auto owner = [&](std::int64_t group) {
    if (cyclic_) return static_cast<int>(group % threads_);
    int thread = 0;
    while (end_group(thread) <= group) ++thread;
    return thread;
  };
  wait_start_.assign(1, 0);
  for (std::int64_t group = 0; group < groups_; ++group) {
    std::map<std::pair<std::int64_t, int>, std::int64_t> needed;
    const LineWork own = work(0, group, 0, 0);
    for (int l = 0; l < own.lines; ++l) {
      for (const Offset& o : earlier) {
        const std::int64_t line = own.line + l + o.y, other = line / shape.lines;
        if (line < 0 || line >= grid.ny || owner(other) == owner(group)) continue;
        const std::int64_t ahead = lag_ * (line % shape.lines - l) + steps_ahead(o.x, shape.width);
        const auto [at, inserted] = needed.try_emplace({other, o.z}, ahead);
        if (!inserted) at->second = std::max(at->second, ahead);
      }
    }
    for (const auto& [where, ahead] : needed)
      waits_.push_back({static_cast<std::int32_t>(where.first), where.second, ahead});
    wait_start_.push_back(static_cast<std::int64_t>(waits_.size()));
  }
}

std::span<const LineGroups::Wait> LineGroups::waits(std::int64_t group) const {
  const auto first = static_cast<std::size_t>(wait_start_[static_cast<std::size_t>(group)]);
  return std::span(waits_).subspan(first,
                                   static_cast<std::size_t>(wait_start_[static_cast<std::size_t>(group) + 1]) - first);
}

std::int64_t LineGroups::progress_needed(const Wait& wait, std::int64_t plane, std::int64_t end) const {
  return plane + wait.z < 0 ? 0 : (plane + wait.z) * steps_ + std::clamp<std::int64_t>(end + wait.ahead, 0, steps_);
}

LineWork LineGroups::work(std::int64_t plane, std::int64_t group, std::int64_t begin, std::int64_t end) const {
  const std::int64_t line = group * shape_.lines;
  return {plane, line, static_cast<int>(std::min<std::int64_t>(shape_.lines, grid_.ny - line)), begin, end};
}

std::int64_t LineGroups::bytes() const {
  return static_cast<std::int64_t>(waits_.size() * sizeof(Wait) + wait_start_.size() * sizeof(std::int64_t));
}

}  // namespace echelon
