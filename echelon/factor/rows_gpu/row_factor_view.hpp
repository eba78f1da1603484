// SPDX-License-Identifier: BSD-3-Clause
// The exact factorization of a block CSR matrix on a GPU as its kernels see it, and the table of launches that host code
// calls. Patterns and values stand as on the host (triangles.hpp); pointers are the device's.
#pragma once

#include <cstdint>
#include <string>

#include "echelon/base/cuda/row_sweep_state.hpp"
#include "echelon/factor/blocks_gpu/factor_status.hpp"
#include "echelon/factor/rows/ilu_numeric.hpp"
#include "echelon/factor/rows_gpu/row_meets.hpp"

namespace echelon {

/// What is known of A's block rows, in the user's numbering, before an attempt; where rows measure themselves only the norm,
/// after it.
struct RowMeasures {
  double* scale = nullptr;             // max |a|, a block row each
  std::uint8_t* nonfinite = nullptr;   // a block row that holds NaN or Inf
  unsigned long long* norm = nullptr;  // largest finite row sum, as a bit pattern
};

/// What one pass over A finds, or its rows.
struct RowsFound {
  unsigned long long norm = 0;         // largest finite row sum, as a bit pattern
  unsigned long long fingerprint = 0;  // of the pattern; its last bits count the blocks of threads that have added to it
  static constexpr int count_bits = 16;
  static constexpr unsigned long long count_mask = (1ull << count_bits) - 1;
};

/// What the host reads after an attempt. Passes take turns with `found`: each clears the other one for the next.
struct RowFactorNumbers {
  FactorStatus status;
  RowsFound found[2];
};

/// What is done before the first attempt with new values (row_prepare.cuh).
struct RowPreparation {
  BlockCsrView<double> A;
  std::int64_t entries = 0;  // of A, in blocks
  RowMeasures known;         // its norm is that of `found`
  bool measure = true;       // otherwise rows measure themselves
  RowFactorNumbers* numbers = nullptr;
  int turn = 0;
  bool compare = false;  // no ticket is left for the factorization of a pattern with another fingerprint
  std::uint64_t expected = 0;
  RowSweepWord* words = nullptr;
  std::int64_t word_count = 0;
};

struct RowFactorView {
  FactorView<double> rows;  // int32 distances; rules without a log
  RowMeasures known;
  const std::int32_t* tickets = nullptr;  // null: row = ticket
  unsigned* finished = nullptr;           // a row's epoch once its U and D⁻¹ are there
  unsigned epoch = 0, first_ticket = 0;
  FactorStatus* status = nullptr;
  std::int64_t patience = 0;  // nanoseconds
  int entries_in_shared = 0;  // rows with more are worked on in the scratch
  int longest = 0;            // entries of a row, the diagonal among them
  unsigned char* scratch = nullptr;
  std::int64_t scratch_bytes = 0;  // of each warp
  double* estimate = nullptr;      // L⁻¹ e, in the user's numbering
  RowMeetsView meets;              // of scalars, when kept
  bool share_warps = false;        // then: scalar rows of which a warp takes two or more
  bool dealt = false;              // then: rows wait for none that is near and are dealt out beforehand
  /// Where meets are kept: their records, two doubles a word. Null for other rows.
  RowSweepWord* words = nullptr;

  /// Small blocks that tensor cores have in tiles (row_factor_tiles.cuh); others go to row_factor_columns.cuh. Of three,
  /// rows of 16 entries and more by depth, where many are ready at once, are faster in columns.
  ECHELON_FN bool in_tiles() const {
    return meets.kept() && (rows.A.block > 3 || (rows.A.block == 3 && (meets.stride <= 16 || !tickets)));
  }
  /// Few scalars whose meets are kept. Like blocks in tiles they find what bounds the growth themselves; for others, a pass
  /// over U takes less time.
  ECHELON_FN bool few_scalars() const {
    return rows.A.block == 1 && meets.kept() && rows.A.block_rows < RowMeetsSize::many_rows;
  }
  ECHELON_FN bool bounded_by_rows() const { return in_tiles() || few_scalars(); }
  /// Rows that have all of A in shared memory anyway: another pass over it would take up to a fifth of the time.
  ECHELON_FN bool measured_by_rows() const { return in_tiles(); }
};

struct RowFactorLaunch {
  std::string kernel;  // which one, for reports: "tiles, b=4"
  unsigned blocks = 1;
  int shared_bytes = 0;
  int entries_in_shared = 0;
  std::int64_t scratch_bytes = 0;  // of each warp; 0 when every row fits
  std::int64_t warps = 0;
  std::int64_t words = 0;  // that the view must have; 0 when none
  /// Where one cluster of blocks has all rows: its doubles in shared memory, and its threads a block.
  int cluster_words = 0, cluster_threads = 0;
};

struct RowFactorKernels {
  /// Fills what the view keeps of how rows meet; A's pattern is there. Queued.
  void (*meet)(int device, const RowFactorView& view);
  /// For the view's block size, longest row and what is kept; `mean_entries` of a row says what is worth keeping in shared
  /// memory.
  RowFactorLaunch (*plan)(int device, const RowFactorView& view, double mean_entries, std::int64_t upper_entries);
  /// Queued, not waited for.
  void (*measure)(int device, const BlockCsrView<double>& A, const RowMeasures& to);
  /// Clears the status but for the scale of rows of zeros, which it finds.
  void (*begin)(int device, const BlockCsrView<double>& A, FactorStatus* status);
  /// All that is done once for new values, the status begun and the words cleared.
  void (*prepare)(int device, const RowPreparation& what);
  /// The last two again, before another attempt.
  void (*begin_again)(int device, const RowPreparation& what);
  /// Queues one attempt.
  void (*start)(int device, const RowFactorView& view, const RowFactorLaunch& launch);
  /// What bounds the factors' growth, into the status. Queued.
  void (*bound)(int device, const RowFactorView& view);
};

/// Null when the build has no CUDA.
const RowFactorKernels* row_factor_kernels();

}  // namespace echelon
