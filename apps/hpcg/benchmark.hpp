// SPDX-License-Identifier: BSD-3-Clause
// The phases of HPCG 3.1 in their order: problem, reference kernels and reference iterations, optimised layouts, tests of
// the spectrum and of symmetry, the optimised run that finds the iterations needed, timed sets, variance.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/hpcg/outcome.hpp"
#include "echelon/comm/communicator.hpp"

namespace echelon::hpcg {

inline constexpr double official_seconds = 1800;

struct Plan {
  Geometry geometry;
  double seconds = 60;   // of timed sets; at least one set
  std::string smoother;  // what the report calls it
  MakeSmoother make;
  std::vector<Optimization> optimizations;
  bool separate = false;
  std::optional<Device> tiles;  // the optimised run is in tile order there (tile_run.hpp), without `make`
  int reference_calls = 10;   // of the reference's product and V-cycle, for their time
  int most_iterations = 500;  // of the optimised run
};

/// The plan of one of smoother_kinds(). Throws Error(bad_option) for a grid or number of processes that HPCG does not take.
Plan make_plan(const Geometry& geometry, const SmootherKind& kind, bool separate);

/// The same plan with the optimised run on a GPU (or, for tests, in its order on the host). Throws Error(bad_option) for several
/// processes and for a smoother that has nothing there.
Plan tile_plan(Plan plan, const SmootherKind& kind, Device device);

struct Monitor {
  std::function<Verdict()> ask;  // once an iteration, on every process
  std::function<void(const std::string& phase, double part_done)> progress;
};

/// On every process of the communicator with the same plan but the rank. A 'no' to ask ends it with what there was.
Outcome run_benchmark(const Plan& plan, const Monitor& monitor, const Communicator& communicator);

}  // namespace echelon::hpcg
