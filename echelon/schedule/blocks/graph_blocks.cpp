// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/blocks/graph_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/schedule/orders/colouring.hpp"

namespace echelon {
namespace {

/// A + Aᵀ without its diagonal; an entry of both is there twice.
Pattern coupled_both_ways(const PatternView& A) {
  Pattern both{Array<std::int64_t>(A.rows + 1, std::int64_t{0}), {}};
  const auto each = [&](const auto& visit) {
    for (std::int64_t i = 0; i < A.rows; ++i) {
      for (auto p = A.start[i]; p < A.start[i + 1]; ++p) {
        if (A.column[p] != i) visit(i, A.column[p]), visit(A.column[p], i);
      }
    }
  };
  each([&](std::int64_t i, std::int64_t) { ++both.start[i + 1]; });
  for (std::int64_t i = 0; i < A.rows; ++i) both.start[i + 1] += both.start[i];
  both.column = Array<std::int32_t>(both.start[A.rows]);
  std::vector<std::int64_t> at(both.start.begin(), both.start.end() - 1);
  each([&](std::int64_t i, std::int64_t j) {
    both.column[at[static_cast<std::size_t>(i)]++] = static_cast<std::int32_t>(j);
  });
  return both;
}

/// Rows by block: breadth first from the first row without a block, until the block is full.
struct GrownBlocks {
  Array<std::int32_t> block;  // of a row
  std::vector<std::vector<std::int32_t>> rows;

  GrownBlocks(const Pattern& graph, std::int64_t n, std::int64_t most) : block(n, -1) {
    std::int64_t next = 0;
    std::vector<std::int32_t> queue;
    for (; next < n; ++next) {
      if (block[next] >= 0) continue;
      const auto id = static_cast<std::int32_t>(rows.size());
      queue.assign(1, static_cast<std::int32_t>(next));
      block[next] = id;
      for (std::size_t head = 0; head < queue.size(); ++head) {
        const auto row = queue[head];
        for (auto p = graph.start[row]; p < graph.start[row + 1]; ++p) {
          const auto other = graph.column[p];
          if (block[other] >= 0 || static_cast<std::int64_t>(queue.size()) >= most) continue;
          block[other] = id;
          queue.push_back(other);
        }
      }
      std::ranges::sort(queue);
      rows.push_back(queue);
    }
  }
};

Pattern quotient(const Pattern& graph, const GrownBlocks& blocks) {
  const auto count = static_cast<std::int64_t>(blocks.rows.size());
  Pattern coarse{Array<std::int64_t>(count + 1, std::int64_t{0}), {}};
  std::vector<std::int32_t> columns, row;
  for (std::int64_t b = 0; b < count; ++b) {
    row.clear();
    for (const auto i : blocks.rows[static_cast<std::size_t>(b)]) {
      for (auto p = graph.start[i]; p < graph.start[i + 1]; ++p) row.push_back(blocks.block[graph.column[p]]);
    }
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    columns.insert(columns.end(), row.begin(), row.end());
    coarse.start[b + 1] = static_cast<std::int64_t>(columns.size());
  }
  coarse.column = Array<std::int32_t>(std::span<const std::int32_t>(columns));
  return coarse;
}

}  // namespace

BlockColouring graph_block_colouring(const PatternView& A, std::int64_t block_points, int bsize) {
  check_bsize(bsize);
  if (block_points < 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("blocks of {} rows: at least 1 is needed", block_points));
  }
  const Pattern graph = coupled_both_ways(A);
  const GrownBlocks blocks(graph, A.rows, block_points);
  const Pattern coarse = quotient(graph, blocks);
  const Colouring colouring = first_fit_colouring(coarse.view());

  ColouredBlocks all{bsize, Array<std::int64_t>(static_cast<std::int64_t>(blocks.rows.size()) + 1),
                     Array<std::int32_t>(A.rows),
                     std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(colouring.colours))};
  std::int64_t at = 0;
  for (std::size_t b = 0; b < blocks.rows.size(); ++b) {
    all.start[static_cast<std::int64_t>(b)] = at;
    for (const auto row : blocks.rows[b]) all.place[at++] = row;
    all.colours[static_cast<std::size_t>(colouring.colour[static_cast<std::int64_t>(b)])].push_back(
        static_cast<std::int32_t>(b));
  }
  all.start[static_cast<std::int64_t>(blocks.rows.size())] = at;
  const auto lanes = static_cast<std::size_t>(bsize);
  for (auto& colour : all.colours) colour.resize((colour.size() + lanes - 1) / lanes * lanes, -1);
  return BlockColouring(all, A.rows, "consecutive");
}

}  // namespace echelon
