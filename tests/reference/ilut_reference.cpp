// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/ilut_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "echelon/base/small_block.hpp"

namespace echelon::reference {
namespace {

template <class T>
using Row = std::map<int, std::vector<T>>;

/// ‖W‖ of a block, or of the blocks of a row, times a power of two that keeps squares in range.
template <class T>
double norm(const std::vector<T>& block, double unit) {
  if (block.size() == 1) return std::abs(unit * static_cast<double>(block[0]));
  double squares = 0;
  for (const T a : block) squares = std::fma(unit * static_cast<double>(a), unit * static_cast<double>(a), squares);
  return std::sqrt(squares);
}

/// The lfil largest; of equal ones the first columns.
template <class T>
Row<T> largest(const Row<T>& row, std::int64_t lfil, double unit) {
  std::vector<std::pair<double, int>> by_size;
  for (const auto& [column, block] : row) by_size.emplace_back(-norm(block, unit), column);
  std::sort(by_size.begin(), by_size.end());
  Row<T> kept;
  for (std::size_t e = 0; e < by_size.size() && static_cast<std::int64_t>(e) < lfil; ++e) {
    kept[by_size[e].second] = row.at(by_size[e].second);
  }
  return kept;
}

}  // namespace

template <class T>
IlutFactors<T> ilut(const BlockCsr<T>& A, std::int64_t lfil, double drop, double pivoting) {
  const int b = A.block(), n = static_cast<int>(A.block_rows());
  const auto bb = static_cast<std::size_t>(b) * static_cast<std::size_t>(b);
  IlutFactors<T> out;
  auto& factors = out.factors;
  factors.block = b;
  factors.lower.resize(static_cast<std::size_t>(n));
  factors.upper.resize(static_cast<std::size_t>(n));
  std::vector<int>& order = out.column_order;
  order.resize(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::vector<Row<T>> upper_by_column(static_cast<std::size_t>(n));  // U with A's columns, whatever their place
  const auto place_of = [&](int column) {
    return static_cast<int>(std::find(order.begin(), order.end(), column) - order.begin());
  };

  for (int i = 0; i < n; ++i) {
    Row<T> w;
    std::vector<T> all;
    double largest_entry = 0;
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
      const T* block = A.values().data() + p * static_cast<std::int64_t>(bb);
      w[place_of(A.column()[p])].assign(block, block + bb);
      all.insert(all.end(), block, block + bb);
    }
    for (const T a : all) largest_entry = std::max(largest_entry, std::abs(static_cast<double>(a)));
    const double unit = largest_entry > 0 ? std::ldexp(1.0, -std::ilogb(largest_entry)) : 1;
    double squares = 0;
    for (const T a : all) squares = std::fma(unit * static_cast<double>(a), unit * static_cast<double>(a), squares);
    const double threshold = drop * std::sqrt(squares);
    if (!w.contains(i)) w[i].assign(bb, T(0));

    Row<T> lower;
    while (!w.empty() && w.begin()->first < i) {
      const auto [k, block] = *w.begin();
      w.erase(w.begin());
      if (!(norm(block, unit) > threshold)) continue;
      std::vector<T> l(bb);
      block_product<0>(b, block.data(), factors.inverse_diagonal[static_cast<std::size_t>(k)].data(), l.data());
      lower[k] = l;
      std::map<int, const std::vector<T>*> placed;
      for (const auto& [column, u] : upper_by_column[static_cast<std::size_t>(k)]) placed[place_of(column)] = &u;
      for (const auto& [j, u] : placed) {
        if (!w.contains(j)) w[j].assign(bb, T(0));
        subtract_block_product<0>(b, l.data(), u->data(), w[j].data());
      }
    }
    std::vector<T> diagonal = w[i];
    w.erase(i);
    std::erase_if(w, [&](const auto& entry) { return !(norm(entry.second, unit) > threshold); });
    if (pivoting > 0 && !w.empty()) {
      const int best = largest(w, 1, unit).begin()->first;
      if (pivoting * norm(w[best], unit) > norm(diagonal, unit)) {
        std::swap(w[best], diagonal);
        if (!(norm(w[best], unit) > threshold)) w.erase(best);
        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(best)]);
        ++out.column_swaps;
      }
    }
    const auto most = static_cast<std::size_t>(lfil);
    out.limited_rows += lower.size() > most || w.size() > most;
    factors.lower[static_cast<std::size_t>(i)] = largest(lower, lfil, 1);
    for (const auto& [j, block] : largest(w, lfil, unit)) {
      upper_by_column[static_cast<std::size_t>(i)][order[static_cast<std::size_t>(j)]] = block;
    }
    std::vector<int> swaps(static_cast<std::size_t>(b));
    static_cast<void>(invert<0>(b, diagonal.data(), swaps.data()));
    factors.inverse_diagonal.push_back(diagonal);
  }
  for (std::size_t i = 0; i < upper_by_column.size(); ++i) {
    for (const auto& [column, block] : upper_by_column[i]) factors.upper[i][place_of(column)] = block;
  }
  return out;
}

template IlutFactors<double> ilut(const BlockCsr<double>&, std::int64_t, double, double);
template IlutFactors<float> ilut(const BlockCsr<float>&, std::int64_t, double, double);

}  // namespace echelon::reference
