// SPDX-License-Identifier: BSD-3-Clause
// A triangle cut for a cluster: every entry once, in the order of its row's chain, with the place of its x; a layout whose
// arrays lie apart; the model of costs on cases done by hand.
#include "echelon/sweep/iterated/cluster_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "echelon/sweep/iterated/trisolve_costs.hpp"
#include "tests/reference/drawn_triangles.hpp"

namespace echelon {
namespace {

/// Rows that a CTA has in its iterates: its own, and behind them those that are sent to it, each once.
std::vector<std::vector<std::int64_t>> rows_in_iterates(const ClusterTables& tables, int ctas, std::int64_t rows) {
  std::vector<std::vector<std::int64_t>> all(static_cast<std::size_t>(ctas));
  for (std::size_t cta = 0; cta < all.size(); ++cta) {
    for (int l = 0; l < tables.piece; ++l) all[cta].push_back(static_cast<std::int64_t>(cta) * tables.piece + l);
    all[cta].resize(static_cast<std::size_t>(tables.piece + tables.most_borrowed), -1);
  }
  EXPECT_EQ(tables.send_start.size(), rows + 1);
  EXPECT_EQ(tables.send_start[rows], tables.sends.size());
  for (std::int64_t s = 0; s < rows; ++s) {
    for (std::uint32_t n = tables.send_start[s]; n < tables.send_start[s + 1]; ++n) {
      const std::uint32_t send = tables.sends[n];
      std::int64_t& there = all.at(send >> ClusterSend::cta_shift).at(send & ClusterSend::index_mask);
      EXPECT_EQ(there, -1);
      EXPECT_NE(s / tables.piece, send >> ClusterSend::cta_shift);
      there = s;
    }
  }
  return all;
}

/// As the kernels walk through it, against the triangle itself.
void expect_the_triangle(const TriangleView<double>& triangle, int ctas, int rows_a_block) {
  const ClusterTables tables(triangle, ctas, rows_a_block);
  const TrianglePattern& pattern = *triangle.pattern;
  const int slice = ClusterTriangle::rows_a_slice(triangle.block);
  EXPECT_EQ(tables.piece % rows_a_block, 0);
  EXPECT_GE(std::int64_t{tables.piece} * ctas, pattern.rows);
  const auto kept = rows_in_iterates(tables, ctas, pattern.rows);
  std::vector<bool> seen(static_cast<std::size_t>(pattern.entries()), false);
  for (int cta = 0; cta < ctas; ++cta) {
    const std::uint32_t* slices = tables.slices.data() + std::int64_t{cta} * (tables.slices_a_piece + 1);
    EXPECT_EQ(slices[tables.slices_a_piece], tables.first_entry[cta + 1] - tables.first_entry[cta]);
    for (std::int64_t l = 0; l < tables.piece; ++l) {
      const std::int64_t s = std::int64_t{cta} * tables.piece + l;
      if (s >= pattern.rows) break;
      const std::int64_t n = pattern.start[s + 1] - pattern.start[s];
      ASSERT_EQ(tables.entries[s], n);
      for (std::int64_t e = 0; e < n; ++e) {
        const std::int64_t at = tables.first_entry[cta] + slices[l / slice] + l % slice + e * slice;
        ASSERT_LT(at, tables.first_entry[cta + 1]);
        const std::int64_t p = triangle.lower ? pattern.start[s] + e : pattern.start[s + 1] - 1 - e;
        ASSERT_EQ(tables.source[at], p);
        EXPECT_FALSE(seen[static_cast<std::size_t>(p)]);
        seen[static_cast<std::size_t>(p)] = true;
        const std::int64_t distance = pattern.distance[p];
        const bool same_block = s / rows_a_block == (s - distance) / rows_a_block;
        const std::uint32_t place = tables.places[at];
        EXPECT_EQ(kept[static_cast<std::size_t>(cta)].at(place & ClusterPlace::index_mask), s - distance);
        EXPECT_EQ((place & ClusterPlace::current) != 0, same_block);
      }
    }
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](bool one) { return one; }));
  Array<double> packed(tables.source.size() * triangle.block * triangle.block);
  pack_values(tables, triangle.block, triangle.values, packed);
  const std::int64_t bb = std::int64_t{triangle.block} * triangle.block;
  for (std::int64_t q = 0; q < tables.source.size(); ++q) {
    for (std::int64_t k = 0; k < bb; ++k) {
      const std::int64_t p = tables.source[q];
      ASSERT_EQ(packed[q * bb + k], p < 0 ? 0 : triangle.values[p * bb + k]);
    }
  }
}

TEST(ClusterTables, HaveEveryEntryOnceWithItsPlace) {
  for (const std::int64_t rows : {1, 7, 31, 32, 33, 200}) {
    for (const int block : {1, 3}) {
      const auto factors = reference::drawn_factors({rows, block, 6, 90}, static_cast<std::uint64_t>(rows));
      for (const int ctas : {1, 2, 5, 16}) {
        for (const int rows_a_block : {1, 4, 50}) {
          SCOPED_TRACE(testing::Message() << rows << " rows, b " << block << ", " << ctas << " CTAs, blocks of "
                                          << rows_a_block);
          expect_the_triangle(lower_view(factors), ctas, rows_a_block);
          expect_the_triangle(upper_view(factors), ctas, rows_a_block);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(ClusterTables, DiagonalsGoByPosition) {
  const Array<double> diagonal = {1.0, 2.0, 3.0};
  Array<double> packed(3);
  pack_diagonal(3, 1, true, diagonal.data(), packed);
  EXPECT_TRUE(std::ranges::equal(packed, diagonal));
  pack_diagonal(3, 1, false, diagonal.data(), packed);
  EXPECT_TRUE(std::ranges::equal(packed, std::vector<double>{3, 2, 1}));
}

TEST(ClusterLayouts, ArraysLieApart) {
  for (const ClusterForm form : {ClusterForm::held, ClusterForm::resident, ClusterForm::streamed}) {
    const ClusterNeeds needs{.block = 3,
                             .piece = 7,
                             .slices_a_piece = 7,
                             .borrowed = 2,
                             .entries = 11,
                             .sends = 5,
                             .sums = true,
                             .total = true,
                             .inverse_diagonal = true,
                             .diagonal = true,
                             .form = form};
    const ClusterLayout at = cluster_layout(needs);
    struct Stretch {
      int begin, bytes;
    };
    std::vector<Stretch> list = {{at.iterates[0], 240}, {at.iterates[1], 240}};
    EXPECT_EQ(at.zero, 9);
    if (form != ClusterForm::held) {
      for (const int begin : {at.right, at.total, at.sums}) list.push_back({begin, 168});
    }
    if (form == ClusterForm::resident) {
      for (const int begin : {at.inverse_diagonal, at.diagonal}) list.push_back({begin, 7 * 72});
      for (const Stretch& one : {Stretch{at.values, 11 * 72}, Stretch{at.places, 44}, Stretch{at.entries, 28},
                                 Stretch{at.slices, 32}, Stretch{at.send_start, 32}, Stretch{at.sends, 20}}) {
        list.push_back(one);
      }
    }
    std::ranges::sort(list, {}, &Stretch::begin);
    for (std::size_t n = 0; n < list.size(); ++n) {
      EXPECT_EQ(list[n].begin % 16, 0);
      EXPECT_LE(list[n].begin + list[n].bytes, n + 1 < list.size() ? list[n + 1].begin : at.bytes);
    }
  }
  // What no device has is said to be large, not negative.
  EXPECT_GT(cluster_layout({.block = 1, .piece = 2'000'000'000, .form = ClusterForm::streamed}).bytes, 2'000'000'000);
}

TEST(TrisolveCosts, ByHand) {
  const TrisolveCosts costs{.launch = 1,
                            .level = 2,
                            .memory = 100,
                            .begin = 0.5,
                            .barrier = 3,
                            .cta_barrier = 2,
                            .shared = 10,
                            .resident = 8,
                            .streamed = 5};
  const TriangleWork work{.rows = 10, .entries = 50, .levels = 4, .block = 1, .sweeps = 6};
  EXPECT_DOUBLE_EQ(work.bytes(), 50 * 12 + 10 * 40);
  EXPECT_DOUBLE_EQ(exact_seconds(work, costs), 1 + 10) << "bytes";
  EXPECT_DOUBLE_EQ(exact_seconds({.rows = 10, .entries = 50, .levels = 40}, costs), 1 + 80) << "levels";
  EXPECT_DOUBLE_EQ(launched_seconds(work, costs), 6 * (1 + 10.0));
  EXPECT_DOUBLE_EQ(clustered_seconds(work, 2, ClusterForm::held, costs), 0.5 + 6 * (3 + 40.0 / 2));
  EXPECT_DOUBLE_EQ(clustered_seconds(work, 2, ClusterForm::resident, costs), 0.5 + 6 * (3 + (40 + 125.0) / 2));
  EXPECT_DOUBLE_EQ(clustered_seconds(work, 2, ClusterForm::streamed, costs), 0.5 + 6 * (3 + (40 + 200.0) / 2));
  EXPECT_DOUBLE_EQ(clustered_seconds(work, 1, ClusterForm::held, costs), 0.5 + 6 * (2 + 40.0)) << "one CTA";
}

}  // namespace
}  // namespace echelon
