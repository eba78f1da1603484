// SPDX-License-Identifier: BSD-3-Clause
// Both triangles of a small factor iterated in one launch of one cluster: how many CTAs, where they keep the factor, and its
// tables on the device. The form that moves least comes first: rows held in registers, pieces resident in shared memory,
// pieces streamed.
#pragma once

#include <span>

#include "echelon/sweep/iterated/cluster_tables.hpp"
#include "echelon/sweep/iterated/iterated_triangles.hpp"
#include "echelon/sweep/iterated/stored_factors.hpp"

namespace echelon {

class ClusterIterations {
 public:
  /// By the patterns and what an application will need; false when no cluster of the device has room.
  bool plan(const Triangles<double>& factors, const TrisolveOptions& options, Device device,
            const IterationLaunches& launches);
  /// The triangles as they were prepared, scaled or not. Orders are on the device.
  void load(const IteratedTriangles<double>& prepared, const SweepOrders& orders);
  /// Queued, not waited for; `r` may be `x`.
  void apply(const double* r, double* x);

  const ClusterView& view() const { return view_; }
  std::int64_t bytes() const;

 private:
  struct Side {
    ClusterTables tables;  // on the host
    HeldPlaces held;
    Array<std::int64_t> first_entry;
    Array<std::uint32_t> slices, entries, places, send_start, sends, first_send;
    Array<double> packed, values, inverse_diagonal, diagonal, row_scale, column_scale;
  };

  void cut(const Triangles<double>& factors, int ctas);
  bool fits(ClusterForm form, int ctas);
  void set_sizes(ClusterForm form, int ctas, int piece);
  void load(const IteratedTriangle<double>& prepared, Side& side, ClusterTriangle& triangle);

  TrisolveOptions options_;
  Device device_;
  const IterationLaunches* launches_ = nullptr;
  std::int64_t longest_row_ = 0;
  ClusterView view_;
  Side sides_[2];
  Array<double> between_;
};

}  // namespace echelon
