// SPDX-License-Identifier: BSD-3-Clause
// What triangular solves are expected to take on a GPU, by a model of few numbers: an exact sweep waits from level to level
// or is bound by its bytes; a sweep of an iteration costs a launch and its bytes, or in a cluster a barrier and what its
// CTAs read. For `auto` and for the choice between the two forms of an iteration; never for a report of speed.
#pragma once

#include "echelon/sweep/device_iteration_view.hpp"

namespace echelon {

/// The one place of these numbers. Those of the exact sweep are from bench/results/h200-block.json (ad_fdm4: 187 levels in
/// 133 µs); those of the iterations are estimates, to be set from bench/results/h200-trisolve.json once it is measured.
struct TrisolveCosts {
  double launch = 2.5e-6;    // of a kernel behind another
  double level = 0.7e-6;     // of an exact sweep
  double memory = 3.5e12;    // bytes a second
  double barrier = 0.45e-6;  // of a cluster, and the x from another CTA
  double resident = 1.5e11;  // bytes a second that a CTA reads from its shared memory
  double streamed = 0.6e11;  // and from the second-level cache
  double worthwhile = 0.5;   // an iteration is taken below this share of the exact sweeps' time
};

struct TriangleWork {
  std::int64_t rows = 0, entries = 0, levels = 0;
  int block = 1, sweeps = 0;

  /// That one sweep must read and write.
  double bytes() const;
};

double exact_seconds(const TriangleWork& work, const TrisolveCosts& costs = {});
double launched_seconds(const TriangleWork& work, const TrisolveCosts& costs = {});
double clustered_seconds(const TriangleWork& work, int ctas, ClusterForm form, const TrisolveCosts& costs = {});

}  // namespace echelon
