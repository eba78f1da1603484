// SPDX-License-Identifier: BSD-3-Clause
// Block CSR matrices made from other things: triplets, other block sizes, permutations, transposes. Counting sorts:
// O(blocks) time; only rows whose columns arrive unsorted are sorted by themselves.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/host_only.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {
namespace {

constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max();

template <class T>
void require_square(const BlockCsr<T>& A, const char* what) {
  if (A.square()) return;
  throw Error(ErrorCode::not_square,
              fmt::format("{}: the matrix is {} by {}, a square one is needed", what, A.rows(), A.columns()));
}

/// counts[i + 1] holds the length of row i; turned into row starts.
void sum_counts(Array<std::int64_t>& counts) {
  for (std::int64_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
}

struct Placed {
  std::int32_t column;
  std::int64_t from;  // position in the source
};

/// Ascending columns; equal ones stay in the order of their source.
void sort_row(Placed* begin, Placed* end) {
  const auto before = [](const Placed& a, const Placed& b) {
    return a.column != b.column ? a.column < b.column : a.from < b.from;
  };
  if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
}

template <class T>
void check_triplets(std::int64_t rows, std::int64_t columns, std::span<const Triplet<T>> triplets) {
  if (rows < 0 || columns < 0 || rows > largest_index || columns > largest_index) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("a matrix of {} by {}: sides must be 0 to {} (32-bit indices)", rows, columns, largest_index));
  }
  const auto count = static_cast<std::int64_t>(triplets.size());
  std::int64_t first_bad = count;
#pragma omp parallel for num_threads(threads_for(count)) reduction(min : first_bad) schedule(static)
  for (std::int64_t t = 0; t < count; ++t) {
    const auto& entry = triplets[static_cast<std::size_t>(t)];
    if (entry.row < 0 || entry.row >= rows || entry.column < 0 || entry.column >= columns)
      first_bad = std::min(first_bad, t);
  }
  if (first_bad == count) return;
  const auto& entry = triplets[static_cast<std::size_t>(first_bad)];
  throw Error(ErrorCode::index_range,
              fmt::format("entry ({}, {}) is outside a matrix of {} by {}", Ordinal{entry.row}, Ordinal{entry.column}, rows,
                          columns),
              fmt::format("triplet {}", Ordinal{first_bad}));
}

}  // namespace

template <class T>
BlockCsr<T> from_triplets(std::int64_t rows, std::int64_t columns, std::span<const Triplet<T>> triplets,
                          std::int64_t* duplicates) {
  check_triplets(rows, columns, triplets);
  const auto count = static_cast<std::int64_t>(triplets.size());
  Array<std::int64_t> start(rows + 1, std::int64_t{0});
  for (const auto& entry : triplets) ++start[entry.row + 1];
  sum_counts(start);
  Array<Placed> placed(count);
  {
    Array<std::int64_t> next = start.clone();
    for (std::int64_t t = 0; t < count; ++t) {
      const auto& entry = triplets[static_cast<std::size_t>(t)];
      placed[next[entry.row]++] = {entry.column, t};
    }
  }
  Array<std::int64_t> row_start(rows + 1, std::int64_t{0});
#pragma omp parallel for num_threads(threads_for(count)) schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    sort_row(placed.data() + start[i], placed.data() + start[i + 1]);
    std::int64_t unique = 0;
    for (std::int64_t p = start[i]; p < start[i + 1]; ++p)
      unique += p == start[i] || placed[p].column != placed[p - 1].column;
    row_start[i + 1] = unique;
  }
  sum_counts(row_start);
  Array<std::int32_t> column(row_start[rows]);
  Array<T> values(row_start[rows]);
#pragma omp parallel for num_threads(threads_for(count)) schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t e = row_start[i] - 1;
    for (std::int64_t p = start[i]; p < start[i + 1]; ++p) {
      const T value = triplets[static_cast<std::size_t>(placed[p].from)].value;
      if (p == start[i] || placed[p].column != placed[p - 1].column) {
        column[++e] = placed[p].column;
        values[e] = value;
      } else {
        values[e] += value;
      }
    }
  }
  if (duplicates) *duplicates = count - row_start[rows];
  return BlockCsr<T>(rows, columns, 1, std::move(row_start), std::move(column), std::move(values));
}

namespace {

/// Every scalar of every block as a 1×1 block.
template <class T>
BlockCsr<T> in_scalars(const BlockCsr<T>& A) {
  const std::int64_t b = A.block();
  if (A.rows() > largest_index || A.columns() > largest_index) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("a matrix of {} by {} cannot be stored by scalars: indices are 32-bit", A.rows(), A.columns()));
  }
  const auto from = A.view();
  Array<std::int64_t> row_start(A.rows() + 1);
  Array<std::int32_t> column(A.nonzeros());
  Array<T> values(A.nonzeros());
  row_start[0] = 0;
#pragma omp parallel for num_threads(threads_for(A.nonzeros())) schedule(static)
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    std::int64_t to = from.row_start[i] * b * b;
    for (std::int64_t r = 0; r < b; ++r) {
      for (std::int64_t e = from.row_start[i]; e < from.row_start[i + 1]; ++e) {
        for (std::int64_t c = 0; c < b; ++c, ++to) {
          column[to] = static_cast<std::int32_t>(from.column[e] * b + c);
          values[to] = from.values[(e * b + c) * b + r];
        }
      }
      row_start[i * b + r + 1] = to;
    }
  }
  return BlockCsr<T>(A.rows(), A.columns(), 1, std::move(row_start), std::move(column), std::move(values));
}

/// Walks the b scalar rows of one block row together, from one block column to the next; visit(block column) a step and
/// take(row of the block, scalar position) for each stored scalar.
template <class T, class Visit, class Take>
void merge_rows(const BlockCsrView<T>& A, std::int64_t block_row, int b, std::vector<std::int64_t>& cursor, Visit visit,
                Take take) {
  const std::int64_t* row_start = A.row_start + block_row * b;
  cursor.assign(row_start, row_start + b);
  for (;;) {
    std::int64_t least = largest_index + 1;
    for (int r = 0; r < b; ++r) {
      if (cursor[r] < row_start[r + 1]) least = std::min<std::int64_t>(least, A.column[cursor[r]] / b);
    }
    if (least > largest_index) return;
    visit(static_cast<std::int32_t>(least));
    for (int r = 0; r < b; ++r) {
      for (; cursor[r] < row_start[r + 1] && A.column[cursor[r]] / b == least; ++cursor[r]) take(r, cursor[r]);
    }
  }
}

template <class T>
BlockCsr<T> in_blocks(const BlockCsr<T>& A, int b) {
  const auto from = A.view();
  const std::int64_t block_rows = A.rows() / b;
  Array<std::int64_t> row_start(block_rows + 1);
  row_start[0] = 0;
#pragma omp parallel num_threads(threads_for(A.nonzeros()))
  {
    std::vector<std::int64_t> cursor;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < block_rows; ++i) {
      std::int64_t blocks = 0;
      merge_rows(
          from, i, b, cursor, [&](std::int32_t) { ++blocks; }, [](int, std::int64_t) {});
      row_start[i + 1] = blocks;
    }
  }
  sum_counts(row_start);
  require_memory(row_start[block_rows] * (4 + std::int64_t{b} * b * static_cast<std::int64_t>(sizeof(T))),
                 fmt::format("the matrix in {} blocks of {}×{}", row_start[block_rows], b, b));
  Array<std::int32_t> column(row_start[block_rows]);
  Array<T> values(row_start[block_rows] * b * b, T(0));
#pragma omp parallel num_threads(threads_for(A.nonzeros()))
  {
    std::vector<std::int64_t> cursor;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < block_rows; ++i) {
      std::int64_t e = row_start[i] - 1;
      merge_rows(
          from, i, b, cursor, [&](std::int32_t j) { column[++e] = j; },
          [&](int r, std::int64_t s) { values[(e * b + from.column[s] % b) * b + r] = from.values[s]; });
    }
  }
  return BlockCsr<T>(block_rows, A.columns() / b, b, std::move(row_start), std::move(column), std::move(values));
}

}  // namespace

template <class T>
BlockCsr<T> reblock(const BlockCsr<T>& A, int block) {
  require_host(A, "reblock");
  if (block < 1) throw Error(ErrorCode::bad_argument, fmt::format("block size {}: at least 1 is needed", block));
  if (A.rows() % block != 0 || A.columns() % block != 0) {
    throw Error(ErrorCode::size_mismatch,
                fmt::format("a matrix of {} by {} cannot be cut into blocks of {}: {} does not divide "
                            "both sides",
                            A.rows(), A.columns(), block, block));
  }
  if (A.block() == block) return A.clone();
  if (block == 1) return in_scalars(A);
  return A.block() == 1 ? in_blocks(A, block) : in_blocks(in_scalars(A), block);
}

template <class T>
BlockCsr<T> with_full_diagonal(const BlockCsr<T>& A, Array<std::int32_t>* inserted) {
  require_host(A, "with_full_diagonal");
  require_square(A, "with_full_diagonal");
  const auto from = A.view();
  const std::int64_t n = A.block_rows();
  const std::int64_t a_block = std::int64_t{A.block()} * A.block();
  std::vector<std::int32_t> missing;
  Array<std::int64_t> row_start(n + 1);
  row_start[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto* begin = from.column + from.row_start[i];
    const auto* end = from.column + from.row_start[i + 1];
    if (!std::binary_search(begin, end, static_cast<std::int32_t>(i))) missing.push_back(static_cast<std::int32_t>(i));
    row_start[i + 1] = from.row_start[i + 1] + static_cast<std::int64_t>(missing.size());
  }
  if (inserted) *inserted = Array<std::int32_t>(std::span<const std::int32_t>(missing));
  Array<std::int32_t> column(row_start[n]);
  Array<T> values(row_start[n] * a_block);
#pragma omp parallel for num_threads(threads_for(A.nonzeros())) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t to = row_start[i];
    bool pending = row_start[i + 1] - row_start[i] > from.row_start[i + 1] - from.row_start[i];
    const auto insert = [&] {
      column[to] = static_cast<std::int32_t>(i);
      std::fill_n(values.data() + to * a_block, a_block, T(0));
      ++to;
      pending = false;
    };
    for (std::int64_t e = from.row_start[i]; e < from.row_start[i + 1]; ++e, ++to) {
      if (pending && from.column[e] > i) insert();
      column[to] = from.column[e];
      std::copy_n(from.values + e * a_block, a_block, values.data() + to * a_block);
    }
    if (pending) insert();
  }
  return BlockCsr<T>(n, n, A.block(), std::move(row_start), std::move(column), std::move(values));
}

template <class T>
BlockCsr<T> permuted(const BlockCsr<T>& A, std::span<const std::int32_t> order) {
  require_host(A, "permuted");
  require_square(A, "permuted");
  const auto from = A.view();
  const std::int64_t n = A.block_rows();
  const std::int64_t a_block = std::int64_t{A.block()} * A.block();
  if (static_cast<std::int64_t>(order.size()) != n) {
    throw_size_mismatch("a permutation", static_cast<std::int64_t>(order.size()), n);
  }
  Array<std::int32_t> position(n, std::int32_t{-1});
  Array<std::int64_t> row_start(n + 1);
  row_start[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t old = order[static_cast<std::size_t>(i)];
    if (old < 0 || old >= n) {
      throw Error(ErrorCode::index_range, fmt::format("a permutation of {} rows contains {}", n, Ordinal{old}),
                  fmt::format("position {}", Ordinal{i}));
    }
    if (position[old] >= 0) {
      throw Error(ErrorCode::bad_argument, fmt::format("not a permutation: row {} stands at positions {} and {}",
                                                       Ordinal{old}, Ordinal{position[old]}, Ordinal{i}));
    }
    position[old] = static_cast<std::int32_t>(i);
    row_start[i + 1] = row_start[i] + from.row_start[old + 1] - from.row_start[old];
  }
  Array<std::int32_t> column(A.blocks());
  Array<T> values(A.nonzeros());
#pragma omp parallel num_threads(threads_for(A.nonzeros()))
  {
    std::vector<Placed> row;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t old = order[static_cast<std::size_t>(i)];
      row.clear();
      for (std::int64_t e = from.row_start[old]; e < from.row_start[old + 1]; ++e)
        row.push_back({position[from.column[e]], e});
      sort_row(row.data(), row.data() + row.size());
      std::int64_t to = row_start[i];
      for (const auto& [j, e] : row) {
        column[to] = j;
        std::copy_n(from.values + e * a_block, a_block, values.data() + to++ * a_block);
      }
    }
  }
  return BlockCsr<T>(n, n, A.block(), std::move(row_start), std::move(column), std::move(values));
}

template <class T>
BlockCsr<T> transposed(const BlockCsr<T>& A) {
  require_host(A, "transposed");
  const auto from = A.view();
  const std::int64_t b = A.block();
  Array<std::int64_t> row_start(A.block_columns() + 1, std::int64_t{0});
  for (std::int64_t e = 0; e < A.blocks(); ++e) ++row_start[from.column[e] + 1];
  sum_counts(row_start);
  Array<std::int64_t> next = row_start.clone();
  Array<std::int32_t> column(A.blocks());
  Array<T> values(A.nonzeros());
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    for (std::int64_t e = from.row_start[i]; e < from.row_start[i + 1]; ++e) {
      const std::int64_t to = next[from.column[e]]++;
      column[to] = static_cast<std::int32_t>(i);
      for (std::int64_t c = 0; c < b; ++c) {
        for (std::int64_t r = 0; r < b; ++r) values[(to * b + r) * b + c] = from.values[(e * b + c) * b + r];
      }
    }
  }
  return BlockCsr<T>(A.block_columns(), A.block_rows(), A.block(), std::move(row_start), std::move(column),
                     std::move(values));
}

#define ECHELON_INSTANTIATE(T)                                                                                   \
  template BlockCsr<T> from_triplets<T>(std::int64_t, std::int64_t, std::span<const Triplet<T>>, std::int64_t*); \
  template BlockCsr<T> reblock<T>(const BlockCsr<T>&, int);                                                      \
  template BlockCsr<T> with_full_diagonal<T>(const BlockCsr<T>&, Array<std::int32_t>*);                          \
  template BlockCsr<T> permuted<T>(const BlockCsr<T>&, std::span<const std::int32_t>);                           \
  template BlockCsr<T> transposed<T>(const BlockCsr<T>&);
ECHELON_INSTANTIATE(double)
ECHELON_INSTANTIATE(float)
#undef ECHELON_INSTANTIATE

}  // namespace echelon
