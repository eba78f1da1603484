// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "apps/hpcg/benchmark.hpp"

namespace echelon::hpcg {
namespace {

constexpr double giga = 1e9;

/// Lines of one section after the other; numbers have six digits.
class Lines {
 public:
  void section(const std::string& name) {
    prefix_.clear();
    add(name, "");
    prefix_ = name + "::";
  }
  void part(const std::string& name) {
    add(name, "");
    outer_ = prefix_;
    prefix_ += name + "::";
  }
  void end_part() { prefix_ = outer_; }
  void title(const std::string& words) {
    prefix_.clear();
    add("########## " + words + " ##########", "");
  }
  template <class Value>
  void add(const std::string& key, const Value& value) {
    if constexpr (std::is_floating_point_v<Value>) {
      text_ += fmt::format("{}{}={:g}\n", prefix_, key, value);
    } else {
      text_ += fmt::format("{}{}={}\n", prefix_, key, value);
    }
  }
  void result(bool passed) { add("Result", passed ? "PASSED" : "FAILED"); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_, prefix_, outer_;
};

void add_problem(Lines& out, const Outcome& run) {
  const Geometry& geometry = run.geometry;
  const Grid whole = geometry.global();
  out.section("Machine Summary");
  out.add("Distributed Processes", geometry.size());
  out.add("Threads per processes", run.threads);
  out.section("Global Problem Dimensions");
  out.add("Global nx", whole.nx);
  out.add("Global ny", whole.ny);
  out.add("Global nz", whole.nz);
  out.section("Processor Dimensions");
  out.add("npx", geometry.processes.sides[0]);
  out.add("npy", geometry.processes.sides[1]);
  out.add("npz", geometry.processes.sides[2]);
  out.section("Local Domain Dimensions");
  out.add("nx", geometry.local.nx);
  out.add("ny", geometry.local.ny);
  out.add("Lower ipz", 0);
  out.add("Upper ipz", geometry.processes.sides[2] - 1);
  out.add("nz", geometry.local.nz);
  out.title("Problem Summary ");
  out.section("Setup Information");
  out.add("Setup Time", run.setup_seconds);
  out.section("Linear System Information");
  out.add("Number of Equations", geometry.equations());
  out.add("Number of Nonzero Terms", geometry.nonzeros());
  out.section("Multigrid Information");
  out.add("Number of coarse grid levels", level_count - 1);
  out.part("Coarse Grids");
  const auto levels = levels_of(geometry);
  for (std::size_t l = 1; l < levels.size(); ++l) {
    out.add("Grid Level", l);
    out.add("Number of Equations", levels[l].equations());
    out.add("Number of Nonzero Terms", levels[l].nonzeros());
    out.add("Number of Presmoother Steps", 1);
    out.add("Number of Postsmoother Steps", 1);
  }
}

void add_memory(Lines& out, const Outcome& run) {
  const auto& reference = run.reference_bytes;
  const double all = std::accumulate(reference.begin(), reference.end(), run.optimized_bytes);
  out.title("Memory Use Summary ");
  out.section("Memory Use Information");
  out.add("Total memory used for data (Gbytes)", all / giga);
  out.add("Memory used for OptimizeProblem data (Gbytes)", run.optimized_bytes / giga);
  out.add("Bytes per equation (Total memory / Number of Equations)", all / static_cast<double>(run.geometry.equations()));
  out.add("Memory used for linear system and CG (Gbytes)", reference.front() / giga);
  out.part("Coarse Grids");
  for (std::size_t l = 1; l < reference.size(); ++l) {
    out.add("Grid Level", l);
    out.add("Memory used", reference[l] / giga);
  }
}

void add_tests(Lines& out, const Outcome& run) {
  out.title("V&V Testing Summary ");
  out.section("Spectral Convergence Tests");
  out.result(run.spectral.passed());
  out.part("Unpreconditioned");
  out.add("Maximum iteration count", run.spectral.unpreconditioned);
  out.add("Expected iteration count", SpectralTest::allowed_unpreconditioned);
  out.end_part();
  out.part("Preconditioned");
  out.add("Maximum iteration count", run.spectral.preconditioned);
  out.add("Expected iteration count", SpectralTest::allowed_preconditioned);
  out.section("Departure from Symmetry |x'Ay-y'Ax|/(2*||x||*||A||*||y||)/epsilon");
  out.result(run.symmetry.passed());
  out.add("Departure for SpMV", run.symmetry.spmv);
  out.add("Departure for MG", run.symmetry.mg);
  out.title("Iterations Summary ");
  out.section("Iteration Count Information");
  out.result(run.residual_reached);
  out.add("Reference CG iterations per set", run.reference_iterations);
  out.add("Optimized CG iterations per set", run.optimized_iterations);
  out.add("Total number of reference iterations", std::int64_t{run.reference_iterations} * run.sets());
  out.add("Total number of optimized iterations", std::int64_t{run.optimized_iterations} * run.sets());
  out.title("Reproducibility Summary ");
  out.section("Reproducibility Information");
  out.result(run.norms.passed());
  out.add("Scaled residual mean", run.norms.mean);
  out.add("Scaled residual variance", run.norms.variance);
}

void add_times(Lines& out, const Outcome& run) {
  const CgSeconds& seconds = run.seconds;
  const Flops flops = run.flops();
  out.title("Performance Summary (times in sec)");
  out.section("Benchmark Time Summary");
  out.add("Optimization phase", run.optimize_seconds);
  out.add("DDOT", seconds.ddot);
  out.add("WAXPBY", seconds.waxpby);
  out.add("SpMV", seconds.spmv);
  out.add("MG", seconds.mg);
  out.add("Total", seconds.total);
  out.section("Floating Point Operations Summary");
  out.add("Raw DDOT", flops.ddot);
  out.add("Raw WAXPBY", flops.waxpby);
  out.add("Raw SpMV", flops.spmv);
  out.add("Raw MG", flops.mg);
  out.add("Total", flops.total());
  out.add("Total with convergence overhead", run.rated_flops());
  const auto bytes = model_traffic(run.geometry, run.sets(), run.optimized_iterations);
  const double needed = static_cast<double>(run.reference_iterations) / run.optimized_iterations;
  out.section("GB/s Summary");
  out.add("Raw Read B/W", bytes.read / seconds.total / giga);
  out.add("Raw Write B/W", bytes.written / seconds.total / giga);
  out.add("Raw Total B/W", (bytes.read + bytes.written) / seconds.total / giga);
  const double charged = run.rated_flops() / giga / run.rating();
  out.add("Total with convergence and optimization phase overhead", (bytes.read + bytes.written) * needed / charged / giga);
  out.section("GFLOP/s Summary");
  out.add("Raw DDOT", flops.ddot / seconds.ddot / giga);
  out.add("Raw WAXPBY", flops.waxpby / seconds.waxpby / giga);
  out.add("Raw SpMV", flops.spmv / seconds.spmv / giga);
  out.add("Raw MG", flops.mg / seconds.mg / giga);
  out.add("Raw Total", run.raw_rate());
  out.add("Total with convergence overhead", run.rated_flops() / seconds.total / giga);
  out.add("Total with convergence and optimization phase overhead", run.rating());
  out.section("User Optimization Overheads");
  out.add("Optimization phase time (sec)", run.optimize_seconds);
  out.add("Optimization phase time vs reference SpMV+MG time",
          run.reference_call_seconds > 0 ? run.optimize_seconds / run.reference_call_seconds : 0.0);
  if (run.geometry.size() == 1) return;
  out.section("DDOT Timing Variations");
  out.add("Min DDOT MPI_Allreduce time", run.shortest_allreduce);
  out.add("Max DDOT MPI_Allreduce time", run.longest_allreduce);
  out.add("Avg DDOT MPI_Allreduce time", run.mean_allreduce);
}

bool uses_geometry(const Outcome& run) {
  return std::ranges::any_of(run.optimizations, [](const auto& one) { return one.uses_geometry; });
}

/// What HPCG's report has no line for.
void add_ours(Lines& out, const Outcome& run) {
  out.title("Echelon Summary ");
  out.section("Optimizations");
  out.add("Smoother", run.smoother);
  if (!run.gpu.empty()) out.add("GPU", run.gpu);
  for (const auto& one : run.optimizations) {
    out.add(one.uses_geometry ? "Uses the geometry of the grid" : "Uses the matrix only", one.name);
  }
  out.section("Bound");
  out.add(run.gpu.empty() ? "Triad (GB/s)" : "Copy on the GPU (GB/s)", run.triad / giga);
  out.add("Bytes an iteration must move", run.iteration_bytes);
  out.add("GFLOP/s at that speed", run.bound());
  out.add("Percent of it", run.percent_of_bound());
  out.section("Reference");
  out.add("GFLOP/s", run.reference_rate());
}

void add_verdict(Lines& out, const Outcome& run) {
  out.section("Final Summary");
  if (!run.valid()) {
    out.add("HPCG result is", "INVALID.");
    out.add("Please review the YAML file contents", "You may NOT submit these results for consideration.");
    return;
  }
  out.add("HPCG result is VALID with a GFLOP/s rating of", run.rating());
  out.add("HPCG 2.4 rating for historical reasons is", run.rating_without_setup());
  if (run.seconds.total < official_seconds) {
    out.add("Results are valid but execution time (sec) is", run.seconds.total);
    out.add("Official results execution time (sec) must be at least", official_seconds);
  }
  if (uses_geometry(run)) out.add("Some optimizations use the geometry of the grid", "not for submission");
}

}  // namespace

std::string report_text(const Outcome& run) {
  Lines out;
  std::string head = "HPCG-Benchmark\nversion=3.1\nRelease date=March 28, 2019\n";
  add_problem(out, run);
  add_memory(out, run);
  add_tests(out, run);
  add_times(out, run);
  add_ours(out, run);
  add_verdict(out, run);
  return head + out.take();
}

std::string summary_text(const Outcome& run) {
  const Geometry& geometry = run.geometry;
  const Grid whole = geometry.global();
  std::string text = fmt::format("HPCG {}x{}x{}, {} equations, {} nonzeros; {} process{} with {} thread{}; smoother {}{}{}\n",
                                 whole.nx, whole.ny, whole.nz, geometry.equations(), geometry.nonzeros(), geometry.size(),
                                 geometry.size() > 1 ? "es" : "", run.threads, run.threads > 1 ? "s" : "", run.smoother,
                                 run.gpu.empty() ? std::string() : " on " + run.gpu, run.separate ? ", residual by a whole product" : "");
  if (!run.completed()) return text + "ended before the last set: there is no rating\n";
  const auto verdict = [](bool passed) { return passed ? "passed" : "FAILED"; };
  text += fmt::format("  residual    {:.5e} after {} iterations of the reference, {:.5e} after {} of ours: {}\n",
                      run.reference_residual, run.reference_iterations, run.residual, run.optimized_iterations,
                      verdict(run.residual_reached));
  text += fmt::format("  spectrum    {} iterations without and {} with preconditioner ({} and {} allowed): {}\n",
                      run.spectral.unpreconditioned, run.spectral.preconditioned, SpectralTest::allowed_unpreconditioned,
                      SpectralTest::allowed_preconditioned, verdict(run.spectral.passed()));
  text += fmt::format("  symmetry    departures {:.2g} of the product, {:.2g} of the V-cycle: {}\n", run.symmetry.spmv,
                      run.symmetry.mg, verdict(run.symmetry.passed()));
  text += fmt::format("  variance    {:.2g} of {} sets: {}\n", run.norms.variance, run.sets(), verdict(run.norms.passed()));
  text += fmt::format(
      "  seconds     {:.3g} in sets (ddot {:.3g}, waxpby {:.3g}, spmv {:.3g}, mg {:.3g}); set-up {:.3g}, "
      "optimisation {:.3g}\n",
      run.seconds.total, run.seconds.ddot, run.seconds.waxpby, run.seconds.spmv, run.seconds.mg, run.setup_seconds,
      run.optimize_seconds);
  text += fmt::format(
      "  GFLOP/s     {:.3g} without what is charged, {:.3g} of the reference; bound {:.3g} ({} {:.3g} GB/s): "
      "{:.0f} %\n",
      run.raw_rate(), run.reference_rate(), run.bound(), run.gpu.empty() ? "triad" : "copy", run.triad / giga, run.percent_of_bound());
  if (run.seconds.total < official_seconds) {
    text += fmt::format("  not an official run: official runs last {:.0f} s\n", official_seconds);
  }
  if (uses_geometry(run)) text += "  some optimizations use the geometry of the grid: not for submission\n";
  return text + (run.valid() ? fmt::format("HPCG result is VALID with a GFLOP/s rating of {:.4g}\n", run.rating())
                             : std::string("HPCG result is INVALID\n"));
}

}  // namespace echelon::hpcg
