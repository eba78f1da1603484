// SPDX-License-Identifier: BSD-3-Clause
// Iterated triangular solves on a GPU as its kernels see them, and the table of launches that host code calls. Pointers are
// the device's. Two forms: a launch a sweep over the factors as they are stored, and for small factors all sweeps of both
// triangles in one launch of one cluster (cluster_tables.hpp makes its arrays).
#pragma once

#include "echelon/sweep/iterated/iterated_row.inl"

namespace echelon {

/// One sweep of one triangle; distances are int32_t.
struct IterationSweep {
  IterationView<double> rows;
  bool lower = true;
  bool first = false;  // from x = 0, which is not read
  IterationKind kind = IterationKind::noncompact;
};

/// to = from / scale by scalars, block rows gathered from (or, when `scatters`, to) the places that `order` gives them.
struct IterationCopy {
  std::int64_t rows = 0;
  int block = 1;
  const std::int32_t* order = nullptr;  // null: as they are
  bool scatters = false;
  const double *scale = nullptr, *from = nullptr;  // by row; a null scale is 1
  double* to = nullptr;
};

/// Where a row's x is in the CTA's own iterates, and whether it belongs to the same block of rows, so that the iterate of
/// this sweep is meant.
struct ClusterPlace {
  static constexpr unsigned current = 1u << 31, index_mask = current - 1;
};

/// Where a row's x is put besides its own place: a CTA that reads it, and where that one keeps it. Of rows that are held the
/// first one is at hand and says whether there are more.
struct ClusterSend {
  static constexpr unsigned cta_shift = 24, index_mask = (1u << cta_shift) - 1, cta_mask = 0xf;
  static constexpr unsigned more = 1u << 31, nobody = ~0u;
};

/// Where a sweep reads the factor: held by its threads in registers, a scalar row each; resident in shared memory, a piece a
/// CTA; or streamed from device memory, which then means the second-level cache.
enum class ClusterForm { held, resident, streamed };

/// Offsets of the arrays in a CTA's shared memory, in bytes. An iterate has the piece's rows, those that are borrowed from
/// other CTAs, and a zero. Arrays from `inverse_diagonal` on are of resident pieces; rows that are held have the iterates
/// only.
struct ClusterLayout {
  int iterates[2] = {}, zero = 0, right = 0, total = 0, sums = 0;  // zero: its index
  int inverse_diagonal = 0, diagonal = 0, values = 0, places = 0, entries = 0, slices = 0, send_start = 0, sends = 0;
  int bytes = 0;
};

/// A triangle cut into pieces of consecutive sweep positions, one a CTA. Entry e of the chain of a piece's row l is at
/// slices[l / rows_a_slice] + e·rows_a_slice + l % rows_a_slice of the piece's entries: a warp reads scalars side by side.
/// Rows that are held all have held_entries of them, so that nothing must be read to know where they are; their places are
/// offsets in bytes, two in a word.
struct ClusterTriangle {
  ECHELON_FN static constexpr int rows_a_slice(int block) { return block == 1 ? 32 : 1; }

  int piece = 0;           // positions, a multiple of rows_a_block; the last pieces may have fewer
  int slices_a_piece = 0;  // and one more number that ends the last one
  int sweeps = 0;
  const std::int64_t* first_entry = nullptr;  // of a CTA's piece, and the end
  const std::uint32_t *slices = nullptr, *entries = nullptr, *places = nullptr;
  const std::uint32_t *send_start = nullptr, *sends = nullptr;  // by position, and the end
  const std::uint32_t* first_send = nullptr;                    // by position, when held
  const double* values = nullptr;
  const double *inverse_diagonal = nullptr, *diagonal = nullptr;  // by position; null: the identity
  const double *row_scale = nullptr, *column_scale = nullptr;     // by row; null: 1
};

struct ClusterView {
  static constexpr int most_ctas = 16;
  ECHELON_FN static constexpr int most_threads(int block) { return block == 1 ? 1024 : 512; }
  /// Whose rows are held: with 64 registers each, for rows of 10 entries 72, of 13 80 and of 16 128, nothing is spilled.
  ECHELON_FN static constexpr int most_holding_threads(int entries) {
    return entries <= 8 ? 1024 : entries <= 10 ? 896 : entries <= 13 ? 768 : 512;
  }

  std::int64_t rows = 0;
  int block = 1;
  int rows_a_block = 1;
  int ctas = 1, threads = 32;
  ClusterForm form = ClusterForm::streamed;
  int held_entries = 0;  // of a row, when held: at least the longest's: 4, 8, 10, 13 or 16
  IterationKind kind = IterationKind::noncompact;
  double damping = 1;
  ClusterLayout layout;
  ClusterTriangle triangle[2];  // L, U
  // Row of the sweep → row of r, and of x; null when they are the same.
  const std::int32_t *row_order = nullptr, *column_order = nullptr;
  const double* r = nullptr;
  double *between = nullptr, *x = nullptr;  // L⁻¹ r; x may be r
};

inline int threads_at_most(const ClusterView& v) {
  return v.form == ClusterForm::held ? ClusterView::most_holding_threads(v.held_entries)
                                     : ClusterView::most_threads(v.block);
}

struct IterationLaunches {
  /// All are queued, not waited for.
  void (*sweep)(int device, const IterationSweep& view);
  void (*copy)(int device, const IterationCopy& view);
  void (*cluster)(int device, const ClusterView& view);
  /// Whether the device can run this as one cluster; the view's sizes are looked at, not its pointers.
  bool (*can_cluster)(int device, const ClusterView& view);
};

/// Null when the build has no CUDA.
const IterationLaunches* iteration_launches();

}  // namespace echelon
