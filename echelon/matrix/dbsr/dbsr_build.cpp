// SPDX-License-Identifier: BSD-3-Clause
// A matrix into diagonal block rows. Entry t of one row and of the next usually belong to one diagonal, so the place of
// the last row's entry t is tried first, and only where lanes part ways a row's diagonals are searched.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/parallel_parts.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/dbsr/dbsr_matrix.hpp"

namespace echelon {
namespace {

/// visit(t, column, value): entries of a row in its own order, t their number in it.
template <class T>
struct GridEntries {
  explicit GridEntries(const StructMatrix<T>& A)
      : grid(A.grid()), offsets(A.stencil().offsets()), values(A.values().data()) {
    for (const Offset& o : offsets) {
      low = {std::min<std::int64_t>(low.nx, o.x), std::min<std::int64_t>(low.ny, o.y), std::min<std::int64_t>(low.nz, o.z)};
      high = {std::max<std::int64_t>(high.nx, o.x), std::max<std::int64_t>(high.ny, o.y),
              std::max<std::int64_t>(high.nz, o.z)};
      steps.push_back(grid.index(o.x, o.y, o.z));
    }
  }
  template <class Visit>
  void row(std::int64_t point, const Visit& visit) const {
    const std::int64_t i = point % grid.nx, line = point / grid.nx, j = line % grid.ny, k = line / grid.ny;
    const bool inner = i + low.nx >= 0 && i + high.nx < grid.nx && j + low.ny >= 0 && j + high.ny < grid.ny &&
                       k + low.nz >= 0 && k + high.nz < grid.nz;
    for (std::size_t e = 0; e < offsets.size(); ++e) {
      const Offset& o = offsets[e];
      if (!inner && !grid.contains(i + o.x, j + o.y, k + o.z)) continue;
      visit(e, point + steps[e], values[static_cast<std::int64_t>(e) * grid.points() + point]);
    }
  }
  std::size_t longest() const { return offsets.size(); }

  Grid grid;
  std::span<const Offset> offsets;
  const T* values;
  Grid low{0, 0, 0}, high{0, 0, 0};
  std::vector<std::int64_t> steps;
};

template <class T>
struct RowEntries {
  explicit RowEntries(const BlockCsr<T>& A) : view(A.view()) {}
  template <class Visit>
  void row(std::int64_t i, const Visit& visit) const {
    for (std::int64_t p = view.row_start[i]; p < view.row_start[i + 1]; ++p) {
      visit(static_cast<std::size_t>(p - view.row_start[i]), std::int64_t{view.column[p]}, view.values[p]);
    }
  }
  std::size_t longest() const {
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < view.block_rows; ++i) most = std::max(most, view.row_start[i + 1] - view.row_start[i]);
    return static_cast<std::size_t>(most);
  }
  BlockCsrView<T> view;
};

template <class T>
GridEntries<T> entries_of(const StructMatrix<T>& A) {
  return GridEntries<T>(A);
}
template <class T>
RowEntries<T> entries_of(const BlockCsr<T>& A) {
  return RowEntries<T>(A);
}

template <class T>
void check(const StructMatrix<T>& A, const BlockColouring& order) {
  if (A.dof() != 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("DBSR: {} unknowns a point, 1 is needed", A.dof()));
  }
  if (A.grid().points() != order.points()) {
    throw Error(ErrorCode::structure,
                fmt::format("DBSR: the order is of {} points, the matrix of {}", order.points(), A.grid().points()));
  }
}
template <class T>
void check(const BlockCsr<T>& A, const BlockColouring& order) {
  if (!A.device().is_host()) throw Error(ErrorCode::device, "DBSR: the matrix is on " + A.device().name());
  if (!A.square()) {
    throw Error(ErrorCode::not_square,
                fmt::format("DBSR: the matrix is {} by {}, a square one is needed", A.rows(), A.columns()));
  }
  if (A.block() != 1) throw Error(ErrorCode::bad_argument, fmt::format("DBSR: blocks of size {}, 1 is needed", A.block()));
  if (A.rows() != order.points()) {
    throw Error(ErrorCode::structure,
                fmt::format("DBSR: the order is of {} points, the matrix of {}", order.points(), A.rows()));
  }
}

/// The diagonals of a block row, found row by row. A row of a general matrix may have as many as there are rows.
class Diagonals {
 public:
  explicit Diagonals(std::size_t longest_row) : hint_(longest_row, 0) {}
  void clear() {
    first_.clear(), lanes_.clear();
    if (!number_.empty()) number_ = {};
  }
  /// The number of the diagonal that begins at `first`, new when there was none.
  void add(std::size_t entry, std::int64_t first, int lane) {
    std::size_t at = hint_[entry];
    if (at >= first_.size() || first_[at] != first) {
      at = number_of(first);
      if (at == first_.size()) first_.push_back(first), lanes_.push_back(0);
      hint_[entry] = at;
    }
    lanes_[at] |= std::uint64_t{1} << lane;
  }
  /// visit(first column, lanes), ascending.
  template <class Visit>
  void sorted(const Visit& visit) {
    by_column_.resize(first_.size());
    for (std::size_t n = 0; n < first_.size(); ++n) by_column_[n] = {first_[n], lanes_[n]};
    std::ranges::sort(by_column_);
    for (const auto& [first, lanes] : by_column_) visit(first, lanes);
  }

 private:
  std::size_t number_of(std::int64_t first) {
    constexpr std::size_t few = 64;
    if (first_.size() <= few) return static_cast<std::size_t>(std::ranges::find(first_, first) - first_.begin());
    for (std::size_t n = number_.size(); n < first_.size(); ++n) number_.emplace(first_[n], n);
    const auto known = number_.find(first);
    return known == number_.end() ? first_.size() : known->second;
  }
  std::vector<std::size_t> hint_;
  std::unordered_map<std::int64_t, std::size_t> number_;  // of the first ones, where there are many
  std::vector<std::int64_t> first_;
  std::vector<std::uint64_t> lanes_;
  std::vector<std::pair<std::int64_t, std::uint64_t>> by_column_;
};

/// What one part of the block rows found, until it is known where that goes.
struct PartOfTriangle {
  std::vector<std::int32_t> blocks;  // a block row
  std::vector<std::int64_t> first;
  std::vector<std::uint64_t> lanes;
};
struct PartOfPattern {
  PartOfTriangle lower, upper;
  std::int64_t nonzeros = 0, diagonals = 0;
};

template <class Entries>
PartOfPattern find_part(const Entries& entries, const BlockColouring& order, std::int64_t begin, std::int64_t end) {
  PartOfPattern part;
  const int bsize = order.bsize();
  Diagonals diagonals(entries.longest());
  for (std::int64_t row = begin; row < end; ++row) {
    diagonals.clear();
    const std::int64_t own = row * bsize;
    bool guard = true;
    for (int lane = 0; lane < bsize; ++lane) {
      const std::int64_t point = order.point()[static_cast<std::size_t>(own + lane)];
      if (point < 0) continue;
      guard = false;
      entries.row(point, [&](std::size_t t, std::int64_t column, auto) {
        ++part.nonzeros;
        const std::int64_t to = order.position()[static_cast<std::size_t>(column)];
        if (to == own + lane) {
          ++part.diagonals;
          return;
        }
        if (to / bsize == row) {
          throw Error(ErrorCode::structure,
                      fmt::format("DBSR: rows {} and {} are coupled, and the order has them side by side", point, column));
        }
        diagonals.add(t, to - lane, lane);
      });
    }
    std::int32_t count[2] = {0, 0};
    if (guard) {
      part.upper.first.push_back(own);
      part.upper.lanes.push_back(0);
      ++count[1];
    }
    diagonals.sorted([&](std::int64_t first, std::uint64_t lanes) {
      // A diagonal's entries lie all before or all behind the block row: it has one side.
      const bool upper = first + std::countr_zero(lanes) >= own;
      auto& side = upper ? part.upper : part.lower;
      side.first.push_back(first);
      side.lanes.push_back(lanes);
      ++count[upper];
    });
    part.lower.blocks.push_back(count[0]);
    part.upper.blocks.push_back(count[1]);
  }
  return part;
}

using Parts = std::vector<PartOfPattern>;

void gather(const Parts& parts, PartOfTriangle PartOfPattern::*side, int bsize, DbsrPattern::Triangle& triangle) {
  std::int64_t rows = 0, blocks = 0;
  std::vector<std::int64_t> row_begin, block_begin;
  for (const auto& part : parts) {
    row_begin.push_back(rows), block_begin.push_back(blocks);
    rows += static_cast<std::int64_t>((part.*side).blocks.size());
    blocks += static_cast<std::int64_t>((part.*side).first.size());
  }
  triangle = {Array<std::int64_t>(rows + 1), Array<std::int32_t>(blocks), Array<std::uint8_t>(blocks),
              Array<std::uint64_t>(blocks)};
  triangle.blk_ptr[rows] = blocks;
  for_each_part(static_cast<int>(parts.size()), [&](int p) {
    const PartOfTriangle& part = parts[static_cast<std::size_t>(p)].*side;
    std::int64_t row = row_begin[static_cast<std::size_t>(p)], at = block_begin[static_cast<std::size_t>(p)];
    for (std::size_t n = 0; n < part.first.size(); ++n) {
      const std::int64_t block = at + static_cast<std::int64_t>(n);
      triangle.blk_ind[block] = static_cast<std::int32_t>(part.first[n] / bsize);
      triangle.blk_offset[block] = static_cast<std::uint8_t>(part.first[n] % bsize);
      triangle.lanes[block] = part.lanes[n];
    }
    for (const auto count : part.blocks) {
      triangle.blk_ptr[row++] = at;
      at += count;
    }
  });
}

/// Blocks [from, to) ascend by their first column: the first one that does not begin before `column`.
std::int64_t first_not_before(const DbsrPattern::Triangle& triangle, std::int64_t from, std::int64_t to, int bsize,
                              std::int64_t column) {
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (triangle.first_column(middle, bsize) < column) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

/// Values of block rows [begin, end); returns the entries that found their place.
template <class T, class Entries>
std::int64_t fill_part(const Entries& entries, const BlockColouring& order, const DbsrPattern& pattern, std::int64_t begin,
                       std::int64_t end, T* lower, T* upper, T* diagonal) {
  const int bsize = order.bsize();
  std::vector<std::int64_t> hint(entries.longest(), 0);
  std::int64_t placed = 0;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t own = row * bsize;
    const std::int64_t from[2] = {pattern.lower.blk_ptr[row], pattern.upper.blk_ptr[row]},
                       to[2] = {pattern.lower.blk_ptr[row + 1], pattern.upper.blk_ptr[row + 1]};
    std::fill(lower + from[0] * bsize, lower + to[0] * bsize, T(0));
    std::fill(upper + from[1] * bsize, upper + to[1] * bsize, T(0));
    std::fill_n(diagonal + own, bsize, T(0));
    for (int lane = 0; lane < bsize; ++lane) {
      const std::int64_t point = order.point()[static_cast<std::size_t>(own + lane)];
      if (point < 0) continue;
      entries.row(point, [&](std::size_t t, std::int64_t column, T value) {
        const std::int64_t position = order.position()[static_cast<std::size_t>(column)], first = position - lane;
        if (position == own + lane) {
          diagonal[position] = value;
          ++placed;
          return;
        }
        const bool side = position > own;
        const auto& triangle = side ? pattern.upper : pattern.lower;
        std::int64_t at = from[side] + hint[t];
        if (at >= to[side] || triangle.first_column(at, bsize) != first) {
          at = first_not_before(triangle, from[side], to[side], bsize, first);
          if (at == to[side] || triangle.first_column(at, bsize) != first) return;
          hint[t] = at - from[side];
        }
        if ((triangle.lanes[at] >> lane & 1) == 0) return;
        (side ? upper : lower)[at * bsize + lane] = value;
        ++placed;
      });
    }
  }
  return placed;
}

template <class T>
std::int64_t entry_count(const StructMatrix<T>& A) {
  return A.nonzeros();
}
template <class T>
std::int64_t entry_count(const BlockCsr<T>& A) {
  return A.nonzeros();
}

}  // namespace

template <class T>
template <class Matrix>
void DbsrMatrix<T>::build(const Matrix& A) {
  check(A, *order_);
  const auto entries = entries_of(A);
  const int team = threads_for(entry_count(A) * 4);
  Parts parts(static_cast<std::size_t>(team));
  for_each_part(team, [&](int p) {
    const auto [begin, end] = share(order_->block_rows(), p, team);
    parts[static_cast<std::size_t>(p)] = find_part(entries, *order_, begin, end);
  });
  auto pattern = std::make_shared<DbsrPattern>();
  gather(parts, &PartOfPattern::lower, bsize(), pattern->lower);
  gather(parts, &PartOfPattern::upper, bsize(), pattern->upper);
  pattern->missing_diagonals = order_->points();
  for (const auto& part : parts) {
    pattern->nonzeros += part.nonzeros;
    pattern->missing_diagonals -= part.diagonals;
  }
  parts.clear();
  pattern_ = pattern;
  const std::int64_t numbers = (pattern->lower.blocks() + pattern->upper.blocks() + 4) * bsize() + order_->positions();
  require_memory(numbers * static_cast<std::int64_t>(sizeof(T)), fmt::format("a matrix in diagonal block rows of {}", bsize()));
  lower_ = Array<T>((pattern->lower.blocks() + 2) * bsize());
  upper_ = Array<T>((pattern->upper.blocks() + 2) * bsize());
  diagonal_ = Array<T>(order_->positions());
  for (Array<T>* values : {&lower_, &upper_}) {
    std::fill_n(values->data(), bsize(), T(0));
    std::fill_n(values->data() + values->size() - bsize(), bsize(), T(0));
  }
  fill(A);
}

template <class T>
template <class Matrix>
void DbsrMatrix<T>::fill(const Matrix& A) {
  const auto entries = entries_of(A);
  const int team = threads_for(entry_count(A) * 4);
  std::vector<std::int64_t> placed(static_cast<std::size_t>(team), 0);
  for_each_part(team, [&](int p) {
    const auto [begin, end] = share(order_->block_rows(), p, team);
    placed[static_cast<std::size_t>(p)] = fill_part(entries, *order_, *pattern_, begin, end, lower_.data() + bsize(),
                                                    upper_.data() + bsize(), diagonal_.data());
  });
  std::int64_t all = 0;
  for (const auto count : placed) all += count;
  if (all != entry_count(A) || all != nonzeros()) {
    throw Error(ErrorCode::structure,
                fmt::format("DBSR: the matrix has {} entries, {} of them in the pattern of {} that it was made with",
                            entry_count(A), all, nonzeros()));
  }
}

template <class T>
DbsrMatrix<T>::DbsrMatrix(const StructMatrix<T>& A, std::shared_ptr<const BlockColouring> order) : order_(std::move(order)) {
  build(A);
}
template <class T>
DbsrMatrix<T>::DbsrMatrix(const BlockCsr<T>& A, std::shared_ptr<const BlockColouring> order) : order_(std::move(order)) {
  build(A);
}
template <class T>
void DbsrMatrix<T>::refresh(const StructMatrix<T>& A) {
  check(A, *order_);
  fill(A);
}
template <class T>
void DbsrMatrix<T>::refresh(const BlockCsr<T>& A) {
  check(A, *order_);
  fill(A);
}

template DbsrMatrix<double>::DbsrMatrix(const StructMatrix<double>&, std::shared_ptr<const BlockColouring>);
template DbsrMatrix<double>::DbsrMatrix(const BlockCsr<double>&, std::shared_ptr<const BlockColouring>);
template DbsrMatrix<float>::DbsrMatrix(const StructMatrix<float>&, std::shared_ptr<const BlockColouring>);
template DbsrMatrix<float>::DbsrMatrix(const BlockCsr<float>&, std::shared_ptr<const BlockColouring>);
template void DbsrMatrix<double>::refresh(const StructMatrix<double>&);
template void DbsrMatrix<double>::refresh(const BlockCsr<double>&);
template void DbsrMatrix<float>::refresh(const StructMatrix<float>&);
template void DbsrMatrix<float>::refresh(const BlockCsr<float>&);

}  // namespace echelon
