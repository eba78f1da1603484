// SPDX-License-Identifier: BSD-3-Clause
// The exact factorization on a GPU as its kernels see it, and the table of launches that host code calls.
//
// A record of every (tile, level) says where its points live, without searching: {first vector scalar, scalars of the run
// with padding and without, an int for each ẑ of the tile: rank of the line (ŷ, ẑ) = offset[ẑ] + ŷ}. Column c of entry e of
// a point begins at
//   first·entries·b + (e·b + c)·run + rank·b,   which is tile order (stencil/tile_order.hpp).
#pragma once

#include <cstdint>

#include "echelon/factor/blocks_gpu/factor_status.hpp"
#include "echelon/factor/grid_gpu/entry_lists.hpp"
#include "echelon/factor/grid_gpu/wavefront_factor.hpp"
#include "echelon/factor/pivots/pivot_rules.hpp"
#include "echelon/stencil/layout_view.hpp"

namespace echelon {

/// Where an entry's neighbour is: in the grid, and in lines and levels of the wavefront.
struct FactorEntry {
  int x, y, z;
  int line_y, line_z, level;
};

struct FactorRecord {
  std::int64_t first;
  int run, used;  // scalars, with padding and without
};

/// One product L_m U_u of a target.
struct FactorPair {
  std::int32_t lower, upper;
};

/// Neighbouring lines of one ẑ that a warp runs together. Team z·in_plane + ⌊ŷ / lines⌋ has all of them that are in the
/// grid.
struct FactorTeams {
  const int* order = nullptr;  // the team of each ticket: none waits for a later one
  int count = 0;               // teams with at least one line
  int in_plane = 0;
};

template <class T>
struct WavefrontFactorView {
  T* values;
  const T* source;    // A in the same order: `values` itself, or where A is kept
  LayoutView vector;  // tables on the device
  const unsigned char* records;
  const FactorEntry* entries;  // and the same offsets on the host
  const Offset* host_offsets;
  const RowItem* items;  // of the groups that share a row (entry_lists.hpp)
  const int* first_item;
  const FactorPair* pairs;  // by target, ascending in `lower`
  const int* first_pair;
  std::int64_t runs;  // (tile, level) pairs
  int record_bytes, entry_count, center, block;
  int item_count, center_group;
  int deepest;           // most levels to a lower neighbour
  int tiles_y, tiles_z;  // tiles that the lower neighbours of a tile's lines lie in, its own among them
  Offset before, after;  // how far entries reach in the grid, both ≥ 0
  bool diagonal_only;    // U is A's and need not be written
  PivotRules rules;      // without a log
  FactorStatus* status;
  FactorKernel kernel;
  FactorTeams teams;
  unsigned* progress;  // levels finished of each tile, or team
  int progress_count;
  unsigned first_ticket;
  unsigned char* scratch;      // of the generic kernel
  std::int64_t patience;       // nanoseconds a tile waits before it gives up
  int groups, warps;           // groups of warps that share a row; warps of a group
  std::int64_t scratch_bytes;  // of each block of threads

  /// From a value's place to that of A's.
  ECHELON_FN std::int64_t to_source() const { return source - values; }
  /// Lower neighbours lie in the tile itself or the one before it, in either direction.
  ECHELON_FN bool is_near() const { return tiles_y <= 2 && tiles_z <= 2; }
};

/// How a view's factorization is run.
struct FactorLaunch {
  const char* kernel = "plain";  // which one, for reports
  bool generic = false;          // the kernel for everything
  int groups = 1, warps = 1;     // as in the view
  int team_lines = 0;            // when teams of so many lines run, not tiles
  bool reads_elsewhere = false;  // the view's source may be other memory than its values
  int blocks = 0;                // of threads, at a time
  int shared_bytes = 0;
  std::int64_t scratch_bytes = 0;
};

template <class T>
struct WavefrontFactorKernels {
  /// What fits this view: the kernel for its block size, or the generic one.
  FactorLaunch (*plan)(int device, const WavefrontFactorView<T>& view);
  void (*records)(int device, const LayoutView& vector, unsigned char* records, int record_bytes);
  /// Clears status and progress and queues the attempt.
  void (*start)(int device, const WavefrontFactorView<T>& view, const FactorLaunch& launch);
  /// Waits for what was queued.
  FactorStatus (*finish)(int device, const FactorStatus* status);
};

/// Null when the build has no CUDA.
template <class T>
const WavefrontFactorKernels<T>* wavefront_factor_kernels();

}  // namespace echelon
