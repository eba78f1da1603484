// SPDX-License-Identifier: BSD-3-Clause
// Block multicolour orders, vectorised: points are gathered in blocks, no two blocks of a colour are coupled, and the same
// place of `bsize` blocks of a colour (a group) is numbered consecutively. Position = block row · bsize + lane.
//   T. Iwashita and M. Shimasaki, 2003 (blocks); X. Yang et al., 2024 (the numbering). Who makes them: schedule/blocks/.
// Positions without a point are padding: missing blocks, missing places of blocks at the border, and one block row of guard
// before the first colour and behind every one. bsize = 1 is the block multicolour order itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/base/threads.hpp"

namespace echelon {

/// What is numbered: places of blocks in elimination order, −1 where a block lacks one, and for each colour its groups'
/// blocks, `bsize` a group, −1 where it lacks one.
struct ColouredBlocks {
  int bsize = 1;
  Array<std::int64_t> start;  // of a block's places, and the end
  Array<std::int32_t> place;  // the point there
  std::vector<std::vector<std::int32_t>> colours;
};

class BlockColouring {
 public:
  /// Block rows [begin, end); group g begins at group_begin(g).
  struct Colour {
    std::int64_t begin, end, first_group, groups;
  };
  static constexpr int largest_bsize = 64;

  BlockColouring() = default;
  /// Throws Error(internal) unless every point 0 … points − 1 has one place.
  BlockColouring(const ColouredBlocks& blocks, std::int64_t points, std::string numbering);

  int bsize() const { return bsize_; }
  std::int64_t points() const { return position_.size(); }
  std::int64_t block_rows() const { return bsize_ > 0 ? point_.size() / bsize_ : 0; }
  std::int64_t positions() const { return point_.size(); }
  std::span<const Colour> colours() const { return colours_; }
  std::int64_t blocks() const { return blocks_; }
  /// The fewest blocks that a colour has.
  std::int64_t fewest_blocks() const { return fewest_; }
  /// How the blocks of a colour became lanes, for the report.
  const std::string& numbering() const { return numbering_; }

  /// Of a position; −1: padding.
  std::span<const std::int32_t> point() const { return point_.span(); }
  /// Of a point.
  std::span<const std::int32_t> position() const { return position_.span(); }
  /// Points in elimination order: the order of the sequential method.
  Array<std::int32_t> order() const;

  /// The block rows of part `part` of a colour; a part has whole groups.
  std::pair<std::int64_t, std::int64_t> rows(const Colour& colour, int part, int parts) const {
    const auto [first, last] = share(colour.groups, part, parts);
    return {group_row(colour, first), group_row(colour, last)};
  }
  std::int64_t bytes() const { return point_.bytes() + position_.bytes() + group_begin_.bytes(); }

 private:
  std::int64_t group_row(const Colour& colour, std::int64_t group) const {
    return group < colour.groups ? group_begin_[colour.first_group + group] : colour.end;
  }
  int bsize_ = 0;
  std::int64_t blocks_ = 0, fewest_ = 0;
  std::vector<Colour> colours_;
  Array<std::int64_t> group_begin_;
  Array<std::int32_t> point_, position_;
  std::string numbering_;
};

/// Throws Error(bad_argument) unless it is 1, 2, 4 … 64.
void check_bsize(int bsize);

}  // namespace echelon
