// SPDX-License-Identifier: BSD-3-Clause
// What runs in one application of structured multigrid: smoothers and transfers of every level, the dense solve, one cycle,
// in FP64, or in FP32 under vectors in FP64.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "echelon/base/array.hpp"
#include "echelon/precond/mg/grid_hierarchy.hpp"
#include "echelon/precond/mg/mg_options.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon {

class GridCycle {
 public:
  virtual ~GridCycle() = default;
  /// z = B r, different vectors; several threads may call at once.
  virtual void apply(const Vector<double>& r, Vector<double>& z) const = 0;
  /// The values that the hierarchy has now. Throws as `make_grid_cycle`.
  virtual void refresh(const GridHierarchy& hierarchy) = 0;
  /// "gs", "direct"
  virtual std::string smoother(std::size_t level) const = 0;
  /// What its smoother's factoring did; null where nothing is factored.
  virtual const FactorReport* factors(std::size_t level) const = 0;
  virtual std::int64_t null_vectors() const = 0;
  virtual std::int64_t bytes() const = 0;
};

/// The hierarchy stays where it is. Throws Error(structure) that names the level and the point of what cannot be made.
std::unique_ptr<GridCycle> make_grid_cycle(const GridHierarchy& hierarchy, const MgOptions& options, bool in_fp32);

}  // namespace echelon
