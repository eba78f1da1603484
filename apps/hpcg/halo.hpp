// SPDX-License-Identifier: BSD-3-Clause
// The layer of points around this process's box that belong to other processes: faces, edges and corners. One process has
// none.
#pragma once

#include <cstdint>
#include <span>

#include "apps/hpcg/geometry.hpp"
#include "echelon/comm/communicator.hpp"

namespace echelon::hpcg {

class Halo {
 public:
  Halo(const Geometry&, const Communicator&) {}
  std::int64_t size() const { return 0; }
  /// Of a point outside the box and inside the whole grid.
  std::int64_t index(std::int64_t, std::int64_t, std::int64_t) const { return 0; }
  /// Sends what neighbours need of x (natural order); other work may be done until `finish`.
  void start(const double*) {}
  /// The neighbours' values.
  std::span<const double> finish() { return {}; }
};

}  // namespace echelon::hpcg
