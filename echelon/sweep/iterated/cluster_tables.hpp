// SPDX-License-Identifier: BSD-3-Clause
// A triangle as iterated_cluster.inl reads it: cut into pieces of consecutive sweep positions, the entries of a piece in the
// order of its rows' chains, scalars in slices of 32 rows, each with the place of its x: the piece's own, or borrowed, which
// then the owner sends to it in every sweep, once however many rows read it. Made on the host from the pattern, once; values
// are packed anew when they change. cluster_layout says what shared memory a CTA needs.
#pragma once

#include "echelon/factor/rows/triangle_view.hpp"
#include "echelon/sweep/iterated/device_iteration_view.hpp"

namespace echelon {

struct ClusterTables {
  int piece = 0, slices_a_piece = 0;
  int most_borrowed = 0;  // rows, of a CTA
  Array<std::int64_t> first_entry;
  Array<std::uint32_t> slices, entries, places, send_start, sends;
  Array<std::int64_t> source;  // of a packed entry: its place in the triangle, −1 for padding

  ClusterTables() = default;
  /// Pieces are whole blocks of `rows_a_block` rows.
  ClusterTables(const TriangleView<double>& triangle, int ctas, int rows_a_block);

  std::int64_t rows() const { return entries.size(); }
  int ctas() const { return static_cast<int>(first_entry.size()) - 1; }
  std::int64_t longest_piece() const;  // in entries, padding included
  std::int64_t most_sends() const;     // of a CTA
  std::int64_t bytes() const {
    return first_entry.bytes() + slices.bytes() + entries.bytes() + places.bytes() + send_start.bytes() + sends.bytes() +
           source.bytes();
  }
};

/// For rows that are held, with `entries` each: places two in a word, where padding reads the zero at index `zero`, and the
/// first of a row's sends.
struct HeldPlaces {
  Array<std::uint32_t> places, first_send;
  HeldPlaces() = default;
  HeldPlaces(const ClusterTables& tables, int entries, int zero);
};
/// Offsets of an iterate fit into half a word.
constexpr bool can_be_held(int zero) { return 8 * std::int64_t{zero} < 1 << 16; }
void pack_held_values(const ClusterTables& tables, int entries, const double* values, Array<double>& packed);

/// `packed` has the size for it. Padding becomes zero.
void pack_values(const ClusterTables& tables, int block, const double* values, Array<double>& packed);
/// Blocks of the diagonal, given by row, by position of the sweep.
void pack_diagonal(std::int64_t rows, int block, bool lower, const double* diagonal, Array<double>& packed);

/// What decides about the arrays in shared memory.
struct ClusterNeeds {
  int block = 1;
  int piece = 0, slices_a_piece = 0, borrowed = 0;  // the larger of both triangles'
  std::int64_t entries = 0, sends = 0;
  bool sums = false, total = false, inverse_diagonal = false, diagonal = false;
  ClusterForm form = ClusterForm::streamed;
};
/// `bytes` is capped at the largest int.
ClusterLayout cluster_layout(const ClusterNeeds& needs);

}  // namespace echelon
