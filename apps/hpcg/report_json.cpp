// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/report_json.hpp"

namespace echelon::hpcg {
namespace {

Json sides(const Grid& grid) { return {grid.nx, grid.ny, grid.nz}; }

Json seconds_json(const Outcome& run) {
  return {{"total", run.seconds.total},
          {"setup", run.setup_seconds},
          {"optimize", run.optimize_seconds},
          {"ddot", run.seconds.ddot},
          {"waxpby", run.seconds.waxpby},
          {"spmv", run.seconds.spmv},
          {"mg", run.seconds.mg},
          {"reference", run.reference_seconds.total},
          {"reference_setup", run.reference_setup_seconds}};
}

Json optimizations_json(const Outcome& run) {
  Json list = Json::array();
  for (const auto& one : run.optimizations) list.push_back({{"name", one.name}, {"uses_geometry", one.uses_geometry}});
  return list;
}

Json run_json(const Outcome& run) {
  // Without its last set a run has no rate.
  const auto rate = [&](double value) { return run.completed() ? Json(value) : Json(nullptr); };
  return {{"valid", run.valid()},
          {"completed", run.completed()},
          {"processes", run.geometry.size()},
          {"process_grid", run.geometry.processes.sides},
          {"threads", run.threads},
          {"grid", sides(run.geometry.global())},
          {"local_grid", sides(run.geometry.local)},
          {"equations", run.geometry.equations()},
          {"nonzeros", run.geometry.nonzeros()},
          {"smoother", run.smoother},
          {"separate", run.separate},
          {"rating_gflops", rate(run.rating())},
          {"raw_gflops", rate(run.raw_rate())},
          {"reference_gflops", rate(run.reference_rate())},
          {"reference_iterations", run.reference_iterations},
          {"optimized_iterations", run.optimized_iterations},
          {"reference_residual", run.reference_residual},
          {"residual", run.residual},
          {"residual_reached", run.residual_reached},
          {"sets", run.sets()},
          {"seconds", seconds_json(run)},
          {"testcg_unpreconditioned", run.spectral.unpreconditioned},
          {"testcg_preconditioned", run.spectral.preconditioned},
          {"departure_spmv", run.symmetry.spmv},
          {"departure_mg", run.symmetry.mg},
          {"variance", run.norms.variance},
          {"optimizations", optimizations_json(run)},
          {"triad_gbs", rate(run.triad / 1e9)},
          {"bytes_an_iteration", run.iteration_bytes},
          {"bound_gflops", rate(run.bound())},
          {"percent_of_bound", rate(run.percent_of_bound())}};
}

}  // namespace

std::string report_json(const Outcome& run, const std::vector<std::string>& arguments, const BackendInfo& backend) {
  Json json = cli::report_head("hpcg", arguments, backend);
  json["hpcg"] = run_json(run);
  return dumped(json);
}

}  // namespace echelon::hpcg
