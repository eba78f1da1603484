// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/dbsr/dbsr_option_list.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

namespace echelon {
namespace {

constexpr std::int64_t longest_side = 1'000'000;

/// Sides apart by 'x'; nothing when one is no number from 1 to the longest.
std::vector<std::int64_t> sides_in(const std::string& text) {
  std::vector<std::int64_t> sides;
  for (const char *at = text.data(), *end = at + text.size();;) {
    std::int64_t side = 0;
    const auto [stop, error] = std::from_chars(at, end, side);
    if (error != std::errc() || side < 1 || side > longest_side) return {};
    sides.push_back(side);
    if (stop == end) return sides;
    if (*stop != 'x') return {};
    at = stop + 1;
  }
}

std::string blocks_text(const PrecondOptions& options) {
  const BlockOptions& blocks = options.blocks;
  if (blocks.choice == BlockChoice::given) {
    return fmt::format("{}x{}x{}", blocks.shape.nx, blocks.shape.ny, blocks.shape.nz);
  }
  return blocks.choice == BlockChoice::automatic ? "auto" : "fixed";
}

constexpr const char* bsizes[] = {"auto", "1", "2", "4", "8", "16", "32", "64"};

const char* bsize_text(const PrecondOptions& options) {
  for (const char* word : bsizes) {
    if (std::to_string(options.blocks.bsize) == word) return word;
  }
  return bsizes[0];
}

void set_bsize(PrecondOptions& options, const std::string& word) {
  options.blocks.bsize = word == bsizes[0] ? 0 : std::stoi(word);
}

}  // namespace

std::string set_blocks(BlockOptions& options, const std::string& text) {
  if (text == "fixed" || text == "auto") {
    options.choice = text == "auto" ? BlockChoice::automatic : BlockChoice::fixed;
    return {};
  }
  const auto sides = sides_in(text);
  if (sides.empty() || sides.size() > 3) {
    return fmt::format("got '{}', needs fixed, auto or the sides of a block: 8x8, 4x4x4", text);
  }
  options.choice = BlockChoice::given;
  const auto side = [&](std::size_t d) { return sides.size() == 1 ? sides[0] : d < sides.size() ? sides[d] : 1; };
  options.shape = {side(0), side(1), side(2)};
  return {};
}

constexpr PrecondOption dbsr_options[] = {
    {"--blocks", "of dbsr: fixed (64 points: 4x4x4, in the plane 8x8), auto (as large as the threads allow) or their sides",
     "fixed|auto|BXxBYxBZ",
     TextValue{blocks_text, [](PrecondOptions& o, const std::string& text) { return set_blocks(o.blocks, text); }}},
    {"--bsize", "of dbsr: blocks numbered together, 1 to 64; auto is 8, fewer where a colour has fewer", "B",
     WordValue{bsizes, bsize_text, set_bsize}},
};

}  // namespace echelon
