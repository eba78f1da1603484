// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/hpcg/clock.hpp"
#include "apps/hpcg/optimised.hpp"
#include "apps/hpcg/reference.hpp"
#include "apps/hpcg/tile_run.hpp"
#include "apps/hpcg/validation.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/comm/agreement.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::hpcg {
namespace {

/// The optimised run must come this near to the reference's residual; it stops there, so that rounding costs no iteration.
constexpr double tolerated = 1 + 1e-6;

class Benchmark {
 public:
  Benchmark(const Plan& plan, const Monitor& monitor, const Communicator& communicator)
      : plan_(plan), monitor_(monitor), communicator_(communicator), levels_(levels_of(plan.geometry)) {
    outcome_.geometry = plan.geometry;
    outcome_.threads = threads();
    outcome_.smoother = plan.smoother;
    outcome_.separate = plan.separate;
    outcome_.optimizations = plan.optimizations;
  }

  Outcome run() {
    try {
      all_or_none(communicator_, [&] { run_phases(); });
    } catch (const WorkStopped& stopped) {
      outcome_.ended = stopped.verdict();
    }
    return std::move(outcome_);
  }

 private:
  void run_phases() {
    require_room();
    say("problem", 0);
    const Clock setup;
    std::vector<StructMatrix<double>> matrices;
    for (const auto& level : levels_) matrices.push_back(problems::poisson(level.local, stencils::box27()));
    b_ = right_hand_side(levels_.front());
    outcome_.setup_seconds = longest(setup.seconds());
    ask_whether_to_go_on(monitor_.ask);
    run_reference();

    say("layouts", 0);
    const Clock optimise;
    const std::unique_ptr<OptimisedRun> made = make_run(std::move(matrices));
    OptimisedRun& optimised = *made;
    outcome_.gpu = optimised.gpu();
    const Vector<double> b = optimised.in_own_order(b_);
    outcome_.optimize_seconds = longest(optimise.seconds());
    outcome_.optimized_bytes = total(static_cast<double>(optimised.bytes()));
    outcome_.iteration_bytes = optimised.iteration_bytes();

    say("tests", 0);
    outcome_.spectral = test_spectrum(optimised, levels_.front(), b_, monitor_.ask);
    outcome_.symmetry = test_symmetry(optimised, levels_.front());
    run_optimised(optimised, b);
  }

  /// The values as they come, in the kernels' layout, and the reference's rows; vectors of both. Coarser levels take a
  /// seventh more.
  void require_room() const {
    constexpr double entries = 27, value = 8, reference_entry = 12, row = 16, vectors = 16;
    const Grid& box = plan_.geometry.local;
    const double points = static_cast<double>(box.nx) * static_cast<double>(box.ny) * static_cast<double>(box.nz);
    const double bytes = points * (entries * (2 * value + reference_entry) + row + vectors * value) * 8 / 7;
    const int here = communicator_.on_this_machine();
    const auto each = here > 1 ? fmt::format(" in each of {} processes here", here) : std::string();
    require_memory(saturated_bytes(bytes * here), fmt::format("HPCG on {}x{}x{}{}", box.nx, box.ny, box.nz, each));
  }

  std::unique_ptr<OptimisedRun> make_run(std::vector<StructMatrix<double>> matrices) const {
    if (plan_.tiles) return std::make_unique<TileRun>(std::move(matrices), *plan_.tiles);
    return std::make_unique<Optimised>(levels_, std::move(matrices), OptimisedOptions{plan_.make, plan_.separate},
                                       communicator_);
  }

  void run_reference() {
    say("reference", 0);
    const Clock setup;
    Reference reference(levels_, communicator_);
    outcome_.reference_setup_seconds = longest(setup.seconds());
    outcome_.reference_bytes = reference.level_bytes();
    communicator_.sum(outcome_.reference_bytes);
    Vector<double> wide(reference.columns(), 0.0), image(reference.rows()), x(reference.rows());
    const auto drawn = drawn_vector(levels_.front(), 0);
    std::copy(drawn.begin(), drawn.end(), wide.begin());
    const Clock calls;
    for (int call = 0; call < plan_.reference_calls; ++call) {
      reference.multiply(wide, image);
      reference.precondition(image, wide);
      ask_whether_to_go_on(monitor_.ask);
    }
    outcome_.reference_call_seconds = longest(calls.seconds()) / std::max(plan_.reference_calls, 1);
    CgRequest request = watched("reference", outcome_.reference_iterations);
    const CgResult result = reference.solve(b_, x, request, outcome_.reference_seconds);
    outcome_.reference_residual = result.scaled();
  }

  void run_optimised(OptimisedRun& optimised, const Vector<double>& b) {
    Vector<double> x = optimised.zeros();
    CgRequest request = watched("optimised set-up", plan_.most_iterations);
    request.tolerance = outcome_.reference_residual * tolerated;
    CgSeconds seconds;
    const CgResult first = optimised.solve(b, x, request, seconds);
    outcome_.residual_reached = first.scaled() <= outcome_.reference_residual * tolerated;
    outcome_.optimized_iterations = std::max(first.iterations, outcome_.reference_iterations);
    outcome_.residual = first.scaled();

    const double bytes = outcome_.iteration_bytes / communicator_.size();
    communicator_.barrier();
    outcome_.triad = total(optimised.bandwidth(bytes / 4));
    const double slowest = longest(seconds.total);
    const auto sets = static_cast<int>(std::min(plan_.seconds / slowest, 1e9)) + 1;
    request = watched("sets", outcome_.optimized_iterations);
    for (int set = 0; set < sets; ++set) {
      done_before_ = set;
      parts_ = sets;
      const CgResult result = optimised.solve(b, x, request, outcome_.seconds);
      outcome_.residual = result.scaled();
      outcome_.set_residuals.push_back(result.scaled());
    }
    outcome_.norms = norms_test(outcome_.set_residuals);
    outcome_.shortest_allreduce = -longest(-outcome_.seconds.allreduce);
    outcome_.longest_allreduce = longest(outcome_.seconds.allreduce);
    outcome_.mean_allreduce = total(outcome_.seconds.allreduce) / communicator_.size();
  }

  CgRequest watched(const std::string& phase, int iterations) {
    CgRequest request;
    request.iterations = iterations;
    done_before_ = 0;
    parts_ = 1;
    request.ask = [this, phase, iterations, iteration = 0]() mutable {
      say(phase, (done_before_ + static_cast<double>(iteration++ % iterations) / iterations) / parts_);
      return monitor_.ask ? monitor_.ask() : Verdict::proceed;
    };
    return request;
  }

  void say(const std::string& phase, double part) const {
    if (monitor_.progress) monitor_.progress(phase, part);
  }
  double longest(double seconds) const { return communicator_.largest(seconds); }
  double total(double part) const {
    communicator_.sum({&part, 1});
    return part;
  }

  const Plan& plan_;
  const Monitor& monitor_;
  const Communicator& communicator_;
  std::vector<Geometry> levels_;
  Vector<double> b_;
  Outcome outcome_;
  double done_before_ = 0, parts_ = 1;
};

}  // namespace

Plan make_plan(const Geometry& geometry, const SmootherKind& kind, bool separate) {
  require_local_grid(geometry.local);
  require_process_grid(geometry.processes);
  if (kind.one_process && geometry.size() > 1) {
    throw Error(ErrorCode::bad_option, fmt::format("--smoother {} is for one process; got {}", kind.name, geometry.size()));
  }
  Plan plan;
  plan.geometry = geometry;
  plan.smoother = kind.name;
  plan.make = kind.make;
  plan.optimizations = kind.optimizations;
  plan.separate = separate;
  if (!separate) {
    plan.optimizations.push_back({"the residual before restriction from one triangle, at the injected points only", true});
  }
  plan.optimizations.push_back({"the product gives p·A p; the step of r gives r·r; x steps with the next direction", false});
  if (geometry.size() > 1) plan.optimizations.push_back({"the product of inner points while the halo is exchanged", false});
  return plan;
}

Plan tile_plan(Plan plan, const SmootherKind& kind, Device device) {
  if (plan.geometry.size() > 1) {
    throw Error(ErrorCode::bad_option, fmt::format("--backend cuda is for one process; got {}", plan.geometry.size()));
  }
  if (!kind.in_tiles) {
    throw Error(ErrorCode::bad_option, fmt::format("--smoother {} runs on the host only; got --backend cuda", kind.name));
  }
  plan.tiles = device;
  plan.separate = true;
  plan.optimizations = {{"matrix and vectors in tiles of grid lines, level by level, without column indices", true},
                        {"sweeps that pass values between tiles", true},
                        {"L times the inverse diagonal is made beforehand: the sweeps read each triangle once", false},
                        {"the second smoothing is a correction for the residual of the first", false},
                        {"the step of x and r gives r·r", false}};
  return plan;
}

Outcome run_benchmark(const Plan& plan, const Monitor& monitor, const Communicator& communicator) {
  return Benchmark(plan, monitor, communicator).run();
}

}  // namespace echelon::hpcg
