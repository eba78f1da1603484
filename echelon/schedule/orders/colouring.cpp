// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/orders/colouring.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/work_watch.hpp"
#include "echelon/schedule/orders/rcm.hpp"

namespace echelon {
namespace {

Pattern transposed(const PatternView& A) {
  Pattern B{Array<std::int64_t>(A.rows + 1, std::int64_t{0}), Array<std::int32_t>(A.start[A.rows])};
  for (std::int64_t p = 0; p < A.start[A.rows]; ++p) ++B.start[A.column[p] + 1];
  for (std::int64_t i = 0; i < A.rows; ++i) B.start[i + 1] += B.start[i];
  std::vector<std::int64_t> at(B.start.begin(), B.start.begin() + A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (auto p = A.start[i]; p < A.start[i + 1]; ++p) {
      B.column[at[static_cast<std::size_t>(A.column[p])]++] = static_cast<std::int32_t>(i);
    }
  }
  return B;
}

/// Whether A couples j to i wherever it couples i to j. Rows ascend, so those that row j must meet are its entries right of
/// the diagonal one after the other. False also when a row's columns do not ascend.
bool is_symmetric(const PatternView& A) {
  std::vector<std::int64_t> next(
      static_cast<std::size_t>(A.rows));  // entry of row j that the next one left of a diagonal meets
  for (std::int64_t i = 0; i < A.rows; ++i) {
    auto p = A.start[i];
    for (; p < A.start[i + 1] && A.column[p] < i; ++p) {
      auto& meets = next[static_cast<std::size_t>(A.column[p])];
      if (meets >= A.start[A.column[p] + 1] || A.column[meets] != i) return false;
      ++meets;
    }
    if (p < A.start[i + 1] && A.column[p] == i) ++p;
    next[static_cast<std::size_t>(i)] = p;
  }
  for (std::int64_t i = 0; i < A.rows; ++i) {
    if (next[static_cast<std::size_t>(i)] != A.start[i + 1]) return false;
  }
  return true;
}

/// visit(k) is the k-th row to be coloured.
template <class Visit>
Colouring first_fit(const PatternView& A, const Visit& visit) {
  const bool symmetric = is_symmetric(A);
  const Pattern back = symmetric ? Pattern{} : transposed(A);
  Colouring result{Array<std::int32_t>(A.rows, std::int32_t{-1}), 0};
  std::vector<std::int64_t> taken;  // by colour: the row (plus one) that last found it taken
  for (std::int64_t k = 0; k < A.rows; ++k) {
    const std::int64_t row = visit(k);
    keep_going(A.start[row + 1] - A.start[row] + static_cast<std::int64_t>(taken.size()));
    const auto mark = [&](const PatternView& rows) {
      for (auto p = rows.start[row]; p < rows.start[row + 1]; ++p) {
        const auto colour = result.colour[rows.column[p]];
        if (colour >= 0) taken[static_cast<std::size_t>(colour)] = row + 1;
      }
    };
    mark(A);
    if (!symmetric) mark(back.view());
    std::size_t colour = 0;
    while (colour < taken.size() && taken[colour] == row + 1) ++colour;
    if (colour == taken.size()) taken.push_back(0);
    result.colour[row] = static_cast<std::int32_t>(colour);
  }
  result.colours = static_cast<std::int32_t>(taken.size());
  return result;
}

}  // namespace

std::uint32_t colouring_weight(std::uint32_t row) {
  // A bijection on 32 bits that leaves no pattern of the row's number (Steele, Lea and Flood's finalizer, 32-bit form).
  std::uint32_t x = row + 0x9e3779b9u;
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}

Colouring first_fit_colouring(const PatternView& A) {
  return first_fit(A, [](std::int64_t k) { return k; });
}

Colouring independent_set_colouring(const PatternView& A) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(A.rows));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [](std::int32_t a, std::int32_t b) {
    const auto left = colouring_weight(static_cast<std::uint32_t>(a)),
               right = colouring_weight(static_cast<std::uint32_t>(b));
    return left != right ? left > right : a < b;
  });
  return first_fit(A, [&](std::int64_t k) { return order[static_cast<std::size_t>(k)]; });
}

Array<std::int32_t> order_by_colour(const Colouring& colouring) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(colouring.colours) + 1, 0);
  for (const auto colour : colouring.colour) ++at[static_cast<std::size_t>(colour) + 1];
  for (std::size_t c = 1; c < at.size(); ++c) at[c] += at[c - 1];
  Array<std::int32_t> order(colouring.colour.size());
  for (std::int64_t i = 0; i < order.size(); ++i) {
    order[at[static_cast<std::size_t>(colouring.colour[i])]++] = static_cast<std::int32_t>(i);
  }
  return order;
}

EliminationOrder elimination_order(const PatternView& A, Ordering ordering) {
  const auto coloured = [](const Colouring& colouring) {
    return EliminationOrder{order_by_colour(colouring), colouring.colours};
  };
  switch (ordering) {
    case Ordering::natural: break;
    case Ordering::rcm: return {reverse_cuthill_mckee(A), 0};
    case Ordering::colours: return coloured(first_fit_colouring(A));
    case Ordering::random_colours: return coloured(independent_set_colouring(A));
  }
  throw Error(ErrorCode::internal, "the natural order needs no order");
}

}  // namespace echelon
