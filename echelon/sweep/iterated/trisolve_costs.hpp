// SPDX-License-Identifier: BSD-3-Clause
// What triangular solves are expected to take on a GPU, by a model of few numbers: an exact sweep waits from level to level
// or is bound by its bytes; a sweep of an iteration costs a launch and its bytes, or in a cluster a barrier and what its
// CTAs read. For `auto` and for the choice between the two forms of an iteration; never for a report of speed.
#pragma once

#include "echelon/sweep/iterated/device_iteration_view.hpp"

namespace echelon {

/// The one place of these numbers, from bench/results/h200-trisolve.json (but `streamed`, of which it has no case: an
/// estimate): exact sweeps take 0.9 to 1.2 µs a level, launches among it; sweeps in a cluster what the model says within a
/// fifth.
struct TrisolveCosts {
  double launch = 2.5e-6;       // of a kernel behind another
  double level = 0.9e-6;        // of an exact sweep
  double memory = 3.5e12;       // bytes a second
  double begin = 4.5e-6;        // of a triangle in a cluster: half a launch, rows and right-hand side read, x written
  double barrier = 0.45e-6;     // of a cluster, and x sent to another CTA
  double cta_barrier = 0.2e-6;  // of a single CTA
  double shared = 1.1e11;       // bytes of x a second that a CTA reads from its shared memory
  double resident = 0.35e11;    // and of the factor
  double streamed = 0.2e11;     // and of the factor from the second-level cache
  double worthwhile = 0.5;      // an iteration is taken below this share of the exact sweeps' time, of
                                // which those of few rows take 0.37 to 0.7 (row_sweep_one_block.cuh)
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
