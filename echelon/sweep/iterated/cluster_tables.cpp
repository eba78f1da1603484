// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/iterated/cluster_tables.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace echelon {
namespace {

std::int64_t distance_at(const TrianglePattern& triangle, std::int64_t p) {
  return triangle.narrow ? std::int64_t{triangle.distance_16[p]} : std::int64_t{triangle.distance[p]};
}

constexpr std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// visit(row, entry of its chain, place of the entry in `places`); rows are counted with those that fill up slices.
template <class Visit>
void for_scalar_entries(const ClusterTables& tables, const Visit& visit) {
  constexpr int slice = ClusterTriangle::rows_a_slice(1);
  for (std::int64_t s = 0; s < tables.rows(); ++s) {
    const std::int64_t cta = s / tables.piece, l = s % tables.piece;
    const std::int64_t of_slice = tables.slices[cta * (tables.slices_a_piece + 1) + l / slice];
    const std::int64_t first = tables.first_entry[cta] + of_slice + l % slice;
    for (std::int64_t e = 0; e < std::int64_t{tables.entries[s]}; ++e) {
      visit(cta * tables.slices_a_piece * slice + l, e, first + e * slice);
    }
  }
}

}  // namespace

ClusterTables::ClusterTables(const TriangleView<double>& view, int ctas, int rows_a_block)
    : piece(static_cast<int>(quotient_up(quotient_up(view.rows(), rows_a_block), ctas) * rows_a_block)) {
  const TrianglePattern& triangle = *view.pattern;
  const int slice = ClusterTriangle::rows_a_slice(view.block);
  slices_a_piece = static_cast<int>(quotient_up(piece, slice));
  first_entry = Array<std::int64_t>(ctas + 1, std::int64_t{0});
  slices = Array<std::uint32_t>(std::int64_t{ctas} * (slices_a_piece + 1), 0u);
  entries = Array<std::uint32_t>(triangle.rows);
  for (std::int64_t s = 0; s < triangle.rows; ++s) {
    entries[s] = static_cast<std::uint32_t>(triangle.start[s + 1] - triangle.start[s]);
  }
  for (int cta = 0; cta < ctas; ++cta) {
    std::uint32_t* of_piece = slices.data() + std::int64_t{cta} * (slices_a_piece + 1);
    for (int n = 0; n < slices_a_piece; ++n) {
      const std::int64_t begin = std::min<std::int64_t>(std::int64_t{cta} * piece + std::int64_t{n} * slice, triangle.rows);
      const std::int64_t end = std::min({begin + slice, std::int64_t{cta + 1} * piece, triangle.rows});
      const std::uint32_t longest = begin < end ? *std::max_element(entries.data() + begin, entries.data() + end) : 0u;
      of_piece[n + 1] = of_piece[n] + longest * static_cast<std::uint32_t>(slice);
    }
    first_entry[cta + 1] = first_entry[cta] + of_piece[slices_a_piece];
  }
  places = Array<std::uint32_t>(first_entry[ctas], 0u);
  source = Array<std::int64_t>(first_entry[ctas], std::int64_t{-1});
  struct Loan {
    std::int64_t row;
    std::uint32_t send;
  };
  std::vector<Loan> loans;
  std::vector<std::int64_t> taken_by(static_cast<std::size_t>(triangle.rows), -1);  // the last CTA that borrowed it
  std::vector<std::uint32_t> index(static_cast<std::size_t>(triangle.rows), 0u);    // and where
  std::int64_t borrower = -1;
  int borrowed = 0;
  for (std::int64_t s = 0; s < triangle.rows; ++s) {
    const std::int64_t cta = s / piece, l = s % piece, of_slice = slices[cta * (slices_a_piece + 1) + l / slice];
    const std::int64_t first = first_entry[cta] + of_slice + l % slice;
    if (cta != borrower) borrower = cta, borrowed = 0;
    for (std::int64_t e = 0; e < std::int64_t{entries[s]}; ++e) {
      const std::int64_t p = view.lower ? triangle.start[s] + e : triangle.start[s + 1] - 1 - e;
      const std::int64_t distance = distance_at(triangle, p), from = s - distance;
      const auto at = static_cast<std::size_t>(from);
      if (from / piece != cta && taken_by[at] != cta) {
        taken_by[at] = cta;
        index[at] = static_cast<std::uint32_t>(piece + borrowed);
        most_borrowed = std::max(most_borrowed, ++borrowed);
        loans.push_back({from, static_cast<std::uint32_t>(cta) << ClusterSend::cta_shift | index[at]});
      }
      places[first + e * slice] = (from / piece == cta ? static_cast<std::uint32_t>(from % piece) : index[at]) |
                                  (distance <= s % rows_a_block ? ClusterPlace::current : 0u);
      source[first + e * slice] = p;
    }
  }
  std::stable_sort(loans.begin(), loans.end(), [](const Loan& one, const Loan& other) { return one.row < other.row; });
  send_start = Array<std::uint32_t>(triangle.rows + 1, 0u);
  sends = Array<std::uint32_t>(static_cast<std::int64_t>(loans.size()), 0u);
  for (std::size_t n = 0; n < loans.size(); ++n) {
    ++send_start[loans[n].row + 1];
    sends[static_cast<std::int64_t>(n)] = loans[n].send;
  }
  for (std::int64_t s = 0; s < triangle.rows; ++s) send_start[s + 1] += send_start[s];
}

std::int64_t ClusterTables::most_sends() const {
  const std::int64_t rows = send_start.size() - 1;
  std::int64_t most = 0;
  for (std::int64_t begin = 0; begin < rows; begin += piece) {
    most = std::max(most, std::int64_t{send_start[std::min(begin + piece, rows)]} - send_start[begin]);
  }
  return most;
}

std::int64_t ClusterTables::longest_piece() const {
  std::int64_t longest = 0;
  for (std::int64_t cta = 0; cta + 1 < first_entry.size(); ++cta) {
    longest = std::max(longest, first_entry[cta + 1] - first_entry[cta]);
  }
  return longest;
}

HeldPlaces::HeldPlaces(const ClusterTables& tables, int entries, int zero) : first_send(tables.rows(), ClusterSend::nobody) {
  constexpr int slice = ClusterTriangle::rows_a_slice(1);
  const auto none = static_cast<std::uint32_t>(8 * zero);
  const std::int64_t words = (entries + 1) / 2;
  places = Array<std::uint32_t>(std::int64_t{tables.ctas()} * tables.slices_a_piece * slice * words, none | none << 16);
  for_scalar_entries(tables, [&](std::int64_t row, std::int64_t e, std::int64_t at) {
    std::uint32_t& word = places[(row / slice * words + e / 2) * slice + row % slice];
    const std::uint32_t offset = 8 * tables.places[at];
    word = e % 2 == 0 ? (word & 0xffff0000u) | offset : (word & 0xffffu) | offset << 16;
  });
  for (std::int64_t s = 0; s < tables.rows(); ++s) {
    const std::uint32_t begin = tables.send_start[s], sends = tables.send_start[s + 1] - begin;
    if (sends > 0) first_send[s] = tables.sends[begin] | (sends > 1 ? ClusterSend::more : 0u);
  }
}

void pack_held_values(const ClusterTables& tables, int entries, const double* values, Array<double>& packed) {
  constexpr int slice = ClusterTriangle::rows_a_slice(1);
  std::fill(packed.begin(), packed.end(), 0.0);
  for_scalar_entries(tables, [&](std::int64_t row, std::int64_t e, std::int64_t at) {
    packed[(row / slice * entries + e) * slice + row % slice] = values[tables.source[at]];
  });
}

void pack_values(const ClusterTables& tables, int block, const double* values, Array<double>& packed) {
  const std::int64_t size = std::int64_t{block} * block;
  for (std::int64_t q = 0; q < tables.source.size(); ++q) {
    const std::int64_t p = tables.source[q];
    if (p < 0) {
      std::fill_n(packed.data() + q * size, size, 0.0);
    } else {
      std::copy_n(values + p * size, size, packed.data() + q * size);
    }
  }
}

void pack_diagonal(std::int64_t rows, int block, bool lower, const double* diagonal, Array<double>& packed) {
  const std::int64_t size = std::int64_t{block} * block;
  for (std::int64_t s = 0; s < rows; ++s) {
    std::copy_n(diagonal + (lower ? s : rows - 1 - s) * size, size, packed.data() + s * size);
  }
}

ClusterLayout cluster_layout(const ClusterNeeds& needs) {
  const std::int64_t scalars = std::int64_t{needs.piece} * needs.block, size = std::int64_t{needs.block} * needs.block;
  std::int64_t end = 0;
  const auto take = [&](bool wanted, std::int64_t bytes) {
    constexpr std::int64_t alignment = 16, most = std::numeric_limits<int>::max();
    const std::int64_t begin = end;
    if (wanted) end = std::min(most, quotient_up(end + bytes, alignment) * alignment);
    return static_cast<int>(begin);
  };
  const bool resident = needs.form == ClusterForm::resident, held = needs.form == ClusterForm::held;
  ClusterLayout at;
  const std::int64_t kept = std::int64_t{needs.piece} + needs.borrowed + 1;
  for (int& iterate : at.iterates) iterate = take(true, 8 * kept * needs.block);
  at.zero = static_cast<int>(kept - 1);
  at.right = take(!held, 8 * scalars);
  at.total = take(needs.total && !held, 8 * scalars);
  at.sums = take(needs.sums, 8 * scalars);
  at.inverse_diagonal = take(resident && needs.inverse_diagonal, 8 * size * needs.piece);
  at.diagonal = take(resident && needs.diagonal, 8 * size * needs.piece);
  at.values = take(resident, 8 * size * needs.entries);
  at.places = take(resident, 4 * needs.entries);
  at.entries = take(resident, 4 * std::int64_t{needs.piece});
  at.slices = take(resident, 4 * (std::int64_t{needs.slices_a_piece} + 1));
  at.send_start = take(resident, 4 * (std::int64_t{needs.piece} + 1));
  at.sends = take(resident, 4 * needs.sends);
  at.bytes = static_cast<int>(end);
  return at;
}

}  // namespace echelon
