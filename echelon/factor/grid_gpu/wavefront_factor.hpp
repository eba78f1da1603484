// SPDX-License-Identifier: BSD-3-Clause
// Exact ILU(k) and IC(k) on a GPU in tile order, in place or (blocks) from where A is kept: A on the order's (grown) stencil
// becomes L below the centre, D⁻¹ at it and U above, the bits of the host's factors:
//   w_t = a_t − Σ_m L_m U_u(k)   over lower m ascending with o_m + o_u = o_t, k the neighbour m;   L_t = w_t D_k⁻¹.
// A block of threads runs a tile along its levels, or a warp a team of lines, and waits for its neighbours' levels; they are
// taken by a ticket, so progress does not depend on how many are resident. Breakdown is judged by the policy of the host.
// Bytes a point: 8 b² for each entry read and for each written (diagonal_only: only L and D⁻¹ are written).
#pragma once

#include <functional>
#include <memory>

#include "echelon/factor/pivots/breakdown.hpp"
#include "echelon/stencil/tile_order.hpp"

namespace echelon {

/// Which kernels may run; all give the same bits.
enum class FactorKernel {
  best,
  rows,     // lists of work that groups of warps share (entry_lists.hpp): any stencil, b = 1 … 8
  generic,  // anything
};

/// What the policy may need from the owner of the matrix.
template <class T>
struct WavefrontFactorCalls {
  /// A where it is kept, in the same order, when reads_elsewhere(): then `values` may hold anything on entry.
  const T* source = nullptr;
  /// Puts A into `values` again, fill entries as zero: before every attempt after the first, without a source.
  std::function<void(T* values)> refill;
  /// ‖(LU)⁻¹ e‖∞ of the factors just made, by two sweeps; asked when the kernel kept no bound from the factors' row sums
  /// (blocks, unusual stencils) or the bound says too little. Without it an unbounded growth counts as infinite.
  std::function<double()> inverse_norm;
};

template <class T>
class WavefrontFactor {
 public:
  /// `order` is of the grown stencil and must outlive this object. Throws Error(device) without a GPU in this build,
  /// bad_argument for an order kept on the host, will_not_fit without room for the tables.
  WavefrontFactor(const TileOrder& order, const IluOptions& options, bool positive = false,
                  FactorKernel kernel = FactorKernel::best);
  WavefrontFactor(WavefrontFactor&&) noexcept;
  WavefrontFactor& operator=(WavefrontFactor&&) noexcept;
  ~WavefrontFactor();

  /// The kernel can read A from other memory than it writes the factors to, which spares a copy.
  bool reads_elsewhere() const;

  /// `values` are on the order's device: A on entry, the factors on return. Fills the report as the host does (levels,
  /// kernel, pivots, shift, growth, seconds). Allocates nothing on the device. Throws Error(device) when a kernel failed or
  /// waited in vain: then the sentence names the tile and its level.
  void factor(T* values, const WavefrontFactorCalls<T>& calls, FactorReport& report);

  /// One attempt, queued and not waited for (what a bench times); `source` is where A is: `values` itself, or elsewhere.
  void start(T* values, const T* source, const Attempt& attempt);
  /// Waits for it and fills the cleared log. Throws as `factor` does.
  void finish(PivotLog& log);
  /// Largest row sum of |A| of the last attempt finished.
  double norm() const;
  /// For tests: in the next attempt nobody takes the first so many tiles or teams, and waits are given up after so long.
  void leave_out(int tickets, double patience_seconds);
  /// Of the tables on the device.
  std::int64_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace echelon
