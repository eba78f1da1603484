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
  // neighbouring batches run side by side instead, a piece of their lines behind each other.
  batch_ = grid.nz < threads_ ? 1 : 0;
  make_turns(earlier);
  make_waits(earlier);
}

int LineGroups::owner(std::int64_t group) const {
  if (!stripes()) return static_cast<int>(group / batch_ % threads_);
  int thread = 0;
  while (end_group(thread) <= group) ++thread;
  return thread;
}

std::int64_t LineGroups::skew(std::span<const Offset> earlier) const {
  std::int64_t skew = 0;
  for (const Offset& o : earlier) {
    if (o.z != 0 || o.y == 0) continue;
    for (int l = 0; l < shape_.lines; ++l) {
      const std::int64_t line = l + o.y, back = ceil_div(std::max<std::int64_t>(-line, 0), shape_.lines);
      if (back == 0) continue;
      const std::int64_t ahead = lag_ * (line + back * shape_.lines - l) + steps_ahead(o.x, shape_.width);
      skew = std::max(skew, ceil_div(ahead, back));
    }
  }
  return skew;
}

void LineGroups::make_turns(std::span<const Offset> earlier) {
  turn_start_.assign(1, 0);
  if (stripes()) {
    for (int thread = 0; thread < threads_; ++thread) {
      for (std::int64_t g = first_group(thread); g < end_group(thread); ++g) turns_.push_back({g, 0, steps_});
      turn_start_.push_back(static_cast<std::int64_t>(turns_.size()));
    }
    return;
  }
  // Each look at another thread's progress costs a trip between the cores, and on a busy machine a change of threads: pieces
  // are long and batches large, as long as every thread is busy for all but a small part of the time.
  constexpr std::int64_t most_steps = 48, most_groups = 8, least_pieces = 16;
  const std::int64_t piece = std::clamp<std::int64_t>(steps_ / (2 * threads_), 1, most_steps);
  batch_ = std::clamp<std::int64_t>(groups_ * ceil_div(steps_, piece) / (threads_ * least_pieces), 1, most_groups);
  batch_ = std::min(batch_, groups_ / threads_);
  const std::int64_t behind = skew(earlier);
  for (int thread = 0; thread < threads_; ++thread) {
    for (std::int64_t first = thread * batch_; first < groups_; first += threads_ * batch_) {
      const std::int64_t last = std::min(first + batch_, groups_) - 1;
      for (std::int64_t begin = 0; begin < steps_ + behind * (last - first); begin += piece) {
        for (std::int64_t g = first; g <= last; ++g) {
          const std::int64_t from = std::clamp<std::int64_t>(begin - behind * (g - first), 0, steps_);
          const std::int64_t to = std::clamp<std::int64_t>(begin + piece - behind * (g - first), 0, steps_);
          if (from < to) turns_.push_back({g, from, to});
        }
      }
    }
    turn_start_.push_back(static_cast<std::int64_t>(turns_.size()));
  }
}

void LineGroups::make_waits(std::span<const Offset> earlier) {
  wait_start_.assign(1, 0);
  for (std::int64_t group = 0; group < groups_; ++group) {
    std::map<std::pair<std::int64_t, int>, std::int64_t> needed;
    const LineWork own = work(0, group, 0, 0);
    for (int l = 0; l < own.lines; ++l) {
      for (const Offset& o : earlier) {
        const std::int64_t line = own.line + l + o.y, other = line / shape_.lines;
        if (line < 0 || line >= grid_.ny || owner(other) == owner(group)) continue;
        const std::int64_t ahead = lag_ * (line % shape_.lines - l) + steps_ahead(o.x, shape_.width);
        const auto [at, inserted] = needed.try_emplace({other, o.z}, ahead);
        if (!inserted) at->second = std::max(at->second, ahead);
      }
    }
    for (const auto& [where, ahead] : needed)
      waits_.push_back({static_cast<std::int32_t>(where.first), where.second, ahead});
    wait_start_.push_back(static_cast<std::int64_t>(waits_.size()));
  }
}

std::span<const LineGroups::Turn> LineGroups::turns(int thread) const {
  const auto at = static_cast<std::size_t>(thread);
  const auto first = static_cast<std::size_t>(turn_start_[at]);
  return std::span(turns_).subspan(first, static_cast<std::size_t>(turn_start_[at + 1]) - first);
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
  return static_cast<std::int64_t>(waits_.size() * sizeof(Wait) + turns_.size() * sizeof(Turn) +
                                   (wait_start_.size() + turn_start_.size()) * sizeof(std::int64_t));
}

}  // namespace echelon
