// SPDX-License-Identifier: BSD-3-Clause
// HPCG's geometry: px × py × pz processes, x fastest, each with a box of the same sides; four levels, each with half the
// sides of the one before. A row couples a point to itself (26) and to up to 26 neighbours in the whole grid (−1).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "echelon/comm/halo.hpp"
#include "echelon/comm/process_grid.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon::hpcg {

inline constexpr int level_count = 4;

struct Geometry {
  Grid local;  // of every process
  ProcessGrid processes = {};
  int rank = 0;

  int size() const { return processes.size(); }
  /// Of this process among them.
  std::array<int, 3> place() const { return processes.place(rank); }
  Grid global() const;
  std::int64_t equations() const { return global().points(); }
  /// Of the whole matrix: in one direction, 3n − 2 pairs of neighbours (a point and itself is one).
  std::int64_t nonzeros() const;
  /// Of a point of the box in one direction, itself among them: 3, or 2 at the end of the whole grid.
  int neighbours_along(int direction, std::int64_t at) const;
  /// In the global row of a point of the box: the product of the three.
  int row_entries(std::int64_t i, std::int64_t j, std::int64_t k) const;
  /// Number of a point of the box in the whole grid.
  std::int64_t global_row(std::int64_t i, std::int64_t j, std::int64_t k) const;
  Geometry coarser() const;
};

/// Throws Error(bad_option) unless the sides are multiples of 8, at least 16, and not flatter than 1:8.
void require_local_grid(const Grid& grid);
/// Throws Error(bad_option) when the processes' grid is flatter than 1:8.
void require_process_grid(const ProcessGrid& processes);

/// The layer of other processes' points around this one's box.
BoxHalo halo_of(const Geometry& geometry, const Communicator& communicator);

/// The finest first.
std::vector<Geometry> levels_of(const Geometry& finest);

}  // namespace echelon::hpcg
