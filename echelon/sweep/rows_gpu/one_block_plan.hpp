// SPDX-License-Identifier: BSD-3-Clause
// Whether one block of threads sweeps all rows of a triangle (row_sweep_one_block.cuh), and how its shared memory is shared
// out: x, and for each warp the entries of the rows that it has in hand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "echelon/base/small_block.hpp"

namespace echelon {

struct OneBlockPlan {
  static constexpr int most_threads = 512;  // more take each other's turns
  int staged = 0;                           // entries that a warp has room for; 0: this is not for the triangle
  int threads = 0;
  int shared_bytes = 0;

  ECHELON_FN bool used() const { return staged > 0; }

  static constexpr ECHELON_FN int rows_a_warp(int block) { return 32 / block; }
  /// A multiple of 16.
  static constexpr ECHELON_FN int vector_bytes(std::int64_t rows, int block) {
    return static_cast<int>((rows * block * 8 + 15) / 16 * 16);
  }

  /// Of rows by depth in so many levels, none with more than `longest` entries, on a processor with so much memory. Where
  /// levels are wide, all processors together are faster: on an H200 beyond about a hundred rows.
  static OneBlockPlan make(std::int64_t rows, std::int64_t levels, int block, int longest, double mean_entries,
                           std::int64_t memory) {
    constexpr int fewest_warps = 8, largest_block = 8, widest_level = 100;
    OneBlockPlan plan;
    if (block > largest_block || rows > widest_level * levels || rows * block * 8 >= memory) return plan;
    const int entry = 8 * block * block + 4;
    const std::int64_t left = memory - vector_bytes(rows, block), least = std::max(longest, 1);
    const auto wanted = static_cast<std::int64_t>(1.25 * mean_entries * rows_a_warp(block)) + 1;
    for (int warps = most_threads / 32; warps >= fewest_warps; warps /= 2) {
      // A multiple of four, so that every part begins at a multiple of 16 bytes.
      const std::int64_t room = left / (std::int64_t{warps} * entry) / 4 * 4;
      if (room < least || (room < wanted && warps > fewest_warps)) continue;
      plan.staged = static_cast<int>(std::min(room, (std::max(2 * wanted, least) + 3) / 4 * 4));
      plan.threads = 32 * warps;
      plan.shared_bytes = vector_bytes(rows, block) + warps * plan.staged * entry;
      break;
    }
    return plan;
  }
};

}  // namespace echelon
