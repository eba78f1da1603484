// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/dbsr/block_colouring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"

namespace echelon {
namespace {

/// visit(place, lane, point) of a group's positions that have one; the places come in order.
template <class Visit>
void visit_group(const ColouredBlocks& blocks, std::span<const std::int32_t> group, const Visit& visit) {
  std::int64_t longest = 0;
  for (const auto block : group) {
    if (block >= 0) longest = std::max(longest, blocks.start[block + 1] - blocks.start[block]);
  }
  for (std::int64_t place = 0; place < longest; ++place) {
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      const auto block = group[lane];
      if (block < 0 || place >= blocks.start[block + 1] - blocks.start[block]) continue;
      const auto point = blocks.place[blocks.start[block] + place];
      if (point >= 0) visit(place, static_cast<int>(lane), point);
    }
  }
}

}  // namespace

void check_bsize(int bsize) {
  if (bsize >= 1 && bsize <= BlockColouring::largest_bsize && (bsize & (bsize - 1)) == 0) return;
  throw Error(ErrorCode::bad_argument, fmt::format("bsize: got {}, needs 1, 2, 4, 8, 16, 32 or 64", bsize));
}

BlockColouring::BlockColouring(const ColouredBlocks& blocks, std::int64_t points, std::string numbering)
    : bsize_(blocks.bsize), blocks_(blocks.start.size() - 1), position_(points, -1), numbering_(std::move(numbering)) {
  check_bsize(bsize_);
  // Places that no block of a group has take no block row.
  std::vector<std::int64_t> group_begin;
  std::int64_t row = 1;
  fewest_ = std::numeric_limits<std::int64_t>::max();
  for (const auto& colour : blocks.colours) {
    const auto groups = static_cast<std::int64_t>(colour.size()) / bsize_;
    colours_.push_back({row, row, static_cast<std::int64_t>(group_begin.size()), groups});
    fewest_ = std::min<std::int64_t>(fewest_, std::ranges::count_if(colour, [](std::int32_t b) { return b >= 0; }));
    for (std::int64_t g = 0; g < groups; ++g) {
      group_begin.push_back(row);
      std::int64_t last = -1;
      visit_group(blocks, std::span(colour).subspan(static_cast<std::size_t>(g * bsize_), static_cast<std::size_t>(bsize_)),
                  [&](std::int64_t place, int, std::int32_t) {
                    if (place != last) last = place, ++row;
                  });
    }
    colours_.back().end = row;
    ++row;
  }
  if (colours_.empty()) fewest_ = 0;
  if (row * bsize_ > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("block multicolour order: {} positions, at most 2^31 − 1 can be numbered", row * bsize_));
  }
  require_memory(row * bsize_ * static_cast<std::int64_t>(sizeof(std::int32_t)),
                 fmt::format("a block multicolour order of {} points, bsize {},", points, bsize_));
  group_begin_ = Array<std::int64_t>(std::span<const std::int64_t>(group_begin));
  point_ = Array<std::int32_t>(row * bsize_, -1);
  for (std::size_t c = 0; c < blocks.colours.size(); ++c) {
    const std::int64_t first_group = colours_[c].first_group, groups = colours_[c].groups;
#pragma omp parallel for schedule(static) num_threads(threads_for(points))
    for (std::int64_t g = 0; g < groups; ++g) {
      std::int64_t at = group_begin_[first_group + g] - 1, last = -1;
      visit_group(
          blocks,
          std::span(blocks.colours[c]).subspan(static_cast<std::size_t>(g * bsize_), static_cast<std::size_t>(bsize_)),
          [&](std::int64_t place, int lane, std::int32_t point) {
            if (place != last) last = place, ++at;
            point_[at * bsize_ + lane] = point;
            position_[point] = static_cast<std::int32_t>(at * bsize_ + lane);
          });
    }
  }
  if (std::ranges::find(position_, -1) != position_.end() ||
      points != std::ranges::count_if(point_, [](std::int32_t p) { return p >= 0; })) {
    throw Error(ErrorCode::internal, "block multicolour order: not every point has one place");
  }
}

Array<std::int32_t> BlockColouring::order() const {
  Array<std::int32_t> order(points());
  std::int64_t n = 0;
  for (const auto point : point_) {
    if (point >= 0) order[n++] = point;
  }
  return order;
}

}  // namespace echelon
