// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "echelon/base/error.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/base/parallel_parts.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/factor/dbsr/dbsr_ilu.hpp"

namespace echelon {
namespace {

using Words = std::vector<std::uint16_t>;
constexpr std::size_t most_blocks = 32767;  // a shifted block is two factors, counted in 16 bits

/// The lists of a part of the block rows, each once.
struct PartOfPlan {
  Words words;
  std::vector<std::int32_t> start;
  std::int64_t longest = 0, operations = 0;
};

/// Which block of the own block row begins at a column: a table by column that is never cleared, since what it says is
/// looked up again.
class OwnBlocks {
 public:
  OwnBlocks(const DbsrPattern& pattern, int bsize, std::int64_t positions)
      : pattern_(pattern), bsize_(bsize), table_(static_cast<std::size_t>(positions + bsize), 0) {}

  void enter(std::int64_t row) {
    row_ = row;
    columns_.clear(), lanes_.clear();
    add(pattern_.lower);
    columns_.push_back(row * bsize_), lanes_.push_back(~std::uint64_t{0});
    add(pattern_.upper);
    for (std::size_t q = 0; q < columns_.size(); ++q)
      table_[static_cast<std::size_t>(columns_[q])] = static_cast<std::uint16_t>(q);
  }
  /// −1 when there is none.
  int find(std::int64_t first_column) const {
    if (first_column < 0 || first_column >= static_cast<std::int64_t>(table_.size())) return -1;
    const std::size_t q = table_[static_cast<std::size_t>(first_column)];
    return q < columns_.size() && columns_[q] == first_column ? static_cast<int>(q) : -1;
  }
  std::uint64_t lanes(int q) const { return lanes_[static_cast<std::size_t>(q)]; }
  std::size_t count() const { return columns_.size(); }

 private:
  void add(const DbsrPattern::Triangle& t) {
    for (std::int64_t e = t.blk_ptr[row_]; e < t.blk_ptr[row_ + 1]; ++e) {
      columns_.push_back(t.first_column(e, bsize_));
      lanes_.push_back(t.lanes[e]);
    }
  }
  const DbsrPattern& pattern_;
  int bsize_;
  std::int64_t row_ = 0;
  std::vector<std::uint16_t> table_;
  std::vector<std::int64_t> columns_;
  std::vector<std::uint64_t> lanes_;
};

/// A product of a block row: block q gets factor · U_r.
struct Product {
  std::uint16_t q, factor, r;
};

/// The products of one factor: block row `met` of U moved by `moved` lanes, for the lanes in `part`.
void list_products(const DbsrPattern& pattern, const OwnBlocks& own, int bsize, std::int64_t met, int moved,
                   std::uint64_t part, std::uint16_t factor, std::vector<Product>& all) {
  const auto& upper = pattern.upper;
  for (std::int64_t r = upper.blk_ptr[met]; part != 0 && r < upper.blk_ptr[met + 1]; ++r) {
    const std::uint64_t lanes = moved >= 0 ? upper.lanes[r] >> moved : upper.lanes[r] << -moved;
    if ((lanes & part) == 0) continue;
    const int q = own.find(upper.first_column(r, bsize) + moved);
    if (q < 0 || (lanes & part & own.lanes(q)) == 0) continue;
    all.push_back({static_cast<std::uint16_t>(q), factor, static_cast<std::uint16_t>(r - upper.blk_ptr[met])});
  }
}

/// By block q, in the order of the factors.
void write_list(std::size_t blocks, const std::vector<Product>& all, std::vector<std::uint32_t>& at, Words& list) {
  at.assign(blocks + 1, 0);
  for (const auto& one : all) ++at[one.q + std::size_t{1}];
  list.resize(blocks + 2 * all.size());
  std::uint32_t next = 0;
  for (std::size_t q = 0; q < blocks; ++q) {
    const std::uint32_t count = at[q + 1];
    list[next] = static_cast<std::uint16_t>(count);
    at[q] = next + 1;
    next += 1 + 2 * count;
  }
  for (const auto& one : all) {
    list[at[one.q]++] = one.factor;
    list[at[one.q]++] = one.r;
  }
}

/// Before any list is made: those of a row take as long as all rows together that it meets.
void require_short_rows(const BlockColouring& order, const DbsrPattern& pattern) {
  const auto &lower = pattern.lower.blk_ptr, &upper = pattern.upper.blk_ptr;
  for (std::int64_t row = 0; row < order.block_rows(); ++row) {
    const std::int64_t blocks = lower[row + 1] - lower[row] + 1 + upper[row + 1] - upper[row];
    if (blocks <= static_cast<std::int64_t>(most_blocks)) continue;
    const auto points = order.point().subspan(static_cast<std::size_t>(row * order.bsize()),
                                              static_cast<std::size_t>(order.bsize()));
    const auto first = std::ranges::find_if(points, [](std::int32_t p) { return p >= 0; });
    throw Error(ErrorCode::bad_argument,
                fmt::format("ILU(0) in DBSR: the block row of row {} has {} blocks, at most {} can be factored",
                            Ordinal{*first}, blocks, most_blocks));
  }
}

PartOfPlan plan_part(const BlockColouring& order, const DbsrPattern& pattern, std::int64_t begin, std::int64_t end,
                     SharedWork& shared) {
  PartOfPlan part;
  const int bsize = order.bsize();
  OwnBlocks own(pattern, bsize, order.positions());
  std::unordered_multimap<std::size_t, std::pair<std::int32_t, std::size_t>> known;  // by hash: start and length
  Words list;
  std::vector<Product> all;
  std::vector<std::uint32_t> at_block;
  for (std::int64_t row = begin; row < end; ++row) {
    own.enter(row);
    part.longest = std::max(part.longest, static_cast<std::int64_t>(own.count()));
    all.clear();
    const auto& lower = pattern.lower;
    std::uint16_t factor = 0;
    std::int64_t looked_at = 1;
    for (std::int64_t p = lower.blk_ptr[row]; p < lower.blk_ptr[row + 1]; ++p) {
      const int moved = lower.blk_offset[p];
      // Lanes 0 … bsize − 1 − moved meet block row blk_ind, the others the next one.
      const std::uint64_t first = moved == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (bsize - moved)) - 1;
      const std::int64_t met = lower.blk_ind[p];
      looked_at += pattern.upper.blk_ptr[met + (moved > 0 ? 2 : 1)] - pattern.upper.blk_ptr[met];
      list_products(pattern, own, bsize, met, moved, lower.lanes[p] & first, factor++, all);
      if (moved > 0) list_products(pattern, own, bsize, met + 1, moved - bsize, lower.lanes[p] & ~first, factor++, all);
    }
    if (!shared.goes_on(looked_at)) return part;
    part.operations += bsize * static_cast<std::int64_t>(all.size());
    write_list(own.count(), all, at_block, list);
    const std::string_view bytes(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(std::uint16_t));
    const std::size_t hash = std::hash<std::string_view>()(bytes);
    std::int32_t found = -1;
    for (auto [at, last] = known.equal_range(hash); at != last && found < 0; ++at) {
      const auto [start, length] = at->second;
      if (length == list.size() && std::equal(list.begin(), list.end(), part.words.begin() + start)) found = start;
    }
    if (found < 0) {
      if (part.words.size() + list.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw Error(ErrorCode::will_not_fit, "ILU(0) in DBSR: the list of products is too long for its index");
      }
      found = static_cast<std::int32_t>(part.words.size());
      part.words.insert(part.words.end(), list.begin(), list.end());
      known.emplace(hash, std::pair(found, list.size()));
    }
    part.start.push_back(found);
  }
  return part;
}

}  // namespace

DbsrPlan::DbsrPlan(const BlockColouring& order, const DbsrPattern& pattern) : start_(order.block_rows()) {
  const int team = threads_for(pattern.nonzeros * 8);
  require_short_rows(order, pattern);
  std::vector<PartOfPlan> parts(static_cast<std::size_t>(team));
  SharedWork shared;
  for_each_part(team, [&](int p) {
    const auto [begin, end] = share(order.block_rows(), p, team);
    parts[static_cast<std::size_t>(p)] = plan_part(order, pattern, begin, end, shared);
  });
  shared.finish();
  std::int64_t all = 0;
  for (const auto& part : parts) all += static_cast<std::int64_t>(part.words.size());
  if (all > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::will_not_fit, "ILU(0) in DBSR: the list of products is too long for its index");
  }
  words_ = Array<std::uint16_t>(all);
  std::int64_t at = 0, row = 0;
  for (const auto& part : parts) {
    std::ranges::copy(part.words, words_.data() + at);
    for (const auto start : part.start) start_[row++] = static_cast<std::int32_t>(at + start);
    at += static_cast<std::int64_t>(part.words.size());
    longest_row_ = std::max(longest_row_, part.longest);
    operations_ += part.operations;
  }
}

}  // namespace echelon
