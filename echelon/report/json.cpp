// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/json.hpp"

#include "echelon/report/json_parts.hpp"

namespace echelon {
namespace {

Json problem_json(const ProblemInfo& problem) {
  Json json = {{"name", problem.name}, {"n", problem.n}, {"nnz", problem.nnz}, {"block", problem.block}};
  json["grid"] = problem.grid ? Json(*problem.grid) : Json(nullptr);
  json["stencil"] = text_or_null(problem.stencil);
  return json;
}

Json pivots_json(const std::vector<PivotNote>& pivots) {
  Json list = Json::array();
  for (const auto& pivot : pivots) {
    list.push_back({{"row", pivot.row + 1},
                    {"value", pivot.value},
                    {"row_norm", pivot.row_norm},
                    {"level", pivot.level < 0 ? Json(nullptr) : Json(pivot.level)},
                    {"kind", word(pivot.kind)}});
  }
  return list;
}

Json triangle_json(const TriangleNote& note) {
  return {{"levels", note.levels},
          {"sweeps", note.sweeps},
          {"departure", note.departure},
          {"scaled_departure", note.scaling_rounds > 0 ? Json(note.scaled_departure) : Json(nullptr)},
          {"normalised_departure", note.normalised_departure},
          {"condition", note.condition},
          {"scaled_condition", note.scaling_rounds > 0 ? Json(note.scaled_condition) : Json(nullptr)},
          {"scaling_rounds", note.scaling_rounds},
          {"scaling_deviation", note.scaling_deviation},
          {"growth", note.growth},
          {"left_over", note.left_over},
          {"probed", note.probed}};
}

Json trisolve_json(const TrisolveNote& note) {
  return {{"asked", note.asked},
          {"used", note.used},
          {"why", text_or_null(note.why)},
          {"sweeps", note.sweeps},
          {"form", text_or_null(note.form)},
          {"damping", note.damping},
          {"rows_a_block", note.rows_a_block},
          {"scaling", note.scaling},
          {"seconds", note.seconds},
          {"lower", triangle_json(note.lower)},
          {"upper", triangle_json(note.upper)}};
}

Json multilevel_json(const MultilevelNote& note) {
  Json levels = Json::array();
  for (const LevelNote& level : note.levels) {
    levels.push_back({{"rows", level.rows},
                      {"nonzeros", level.nonzeros},
                      {"grid", text_or_null(level.grid)},
                      {"smoother", level.smoother},
                      {"coarsened", text_or_null(level.coarsened)}});
  }
  return {{"levels", levels},
          {"cycle", note.cycle},
          {"sweeps", note.sweeps},
          {"operator_complexity", note.operator_complexity},
          {"grid_complexity", note.grid_complexity},
          {"null_vectors", note.null_vectors}};
}

Json preconditioner_json(const FactorReport& pc) {
  return {{"name", pc.name},
          {"ok", pc.ok},
          {"message", text_or_null(pc.message)},
          {"fill", pc.fill},
          {"lfil", pc.lfil},
          {"drop", pc.drop},
          {"column_pivoting", pc.column_pivoting},
          {"fill_limited_rows", pc.fill_limited_rows},
          {"column_swaps", pc.column_swaps},
          {"block", pc.block},
          {"ordering", pc.ordering},
          {"precision", pc.precision},
          {"kernel", text_or_null(pc.kernel)},
          {"factor_kernel", text_or_null(pc.factor_kernel)},
          {"schedule", text_or_null(pc.schedule)},
          {"levels", pc.levels},
          {"fill_ratio", pc.fill_ratio},
          {"bytes", pc.bytes},
          {"missing_diagonals", pc.missing_diagonals},
          {"perturbed_pivots", pc.perturbed_pivots},
          {"bad_pivots", pivots_json(pc.bad_pivots)},
          {"shift", pc.shift},
          {"shift_attempts", pc.shift_attempts},
          {"perturbation", pc.perturbation},
          {"growth", pc.growth},
          {"colours", pc.colours > 0 ? Json(pc.colours) : Json(nullptr)},
          {"factor_sweeps", pc.factor_sweeps > 0 ? Json(pc.factor_sweeps) : Json(nullptr)},
          {"start_residual", pc.factor_sweeps > 0 ? Json(pc.start_residual) : Json(nullptr)},
          {"pattern_residual", pc.factor_sweeps > 0 ? Json(pc.pattern_residual) : Json(nullptr)},
          {"threshold", pc.fill_limit > 0 ? Json(pc.threshold) : Json(nullptr)},
          {"fill_limit", positive_or_null(pc.fill_limit)},
          {"omega", positive_or_null(pc.omega)},
          {"symbolic_seconds", pc.symbolic_seconds},
          {"ordering_seconds", pc.ordering_seconds},
          {"numeric_seconds", pc.numeric_seconds},
          {"trisolve", pc.trisolve ? trisolve_json(*pc.trisolve) : Json(nullptr)},
          {"multilevel", pc.multilevel ? multilevel_json(*pc.multilevel) : Json(nullptr)},
          {"remarks", pc.remarks}};
}

Json attempts_json(const std::vector<AttemptSummary>& attempts) {
  Json list = Json::array();
  for (const auto& attempt : attempts) {
    list.push_back({{"name", attempt.name},
                    {"why", attempt.why},
                    {"outcome", attempt.outcome},
                    {"message", text_or_null(attempt.message)},
                    {"iterations", attempt.iterations},
                    {"relative_residual", attempt.relative_residual},
                    {"setup_seconds", attempt.setup_seconds},
                    {"solve_seconds", attempt.solve_seconds}});
  }
  return list;
}

Json output_errors_json(const std::vector<OutputError>& errors) {
  Json list = Json::array();
  for (const auto& error : errors)
    list.push_back({{"option", error.option}, {"file", error.file}, {"message", error.message}});
  return list;
}

}  // namespace

std::string to_json(const RunReport& report) {
  const Report& result = report.result;
  Json json = head(report.command);
  json["arguments"] = report.arguments;
  json["problem"] = problem_json(report.problem);
  json["solver"] = text_or_null(result.solver);
  json["preconditioner"] = preconditioner_json(result.preconditioner);
  json["backend"] = backend_json(report.backend);
  json["converged"] = result.converged;
  json["reason"] = word(result.reason);
  json["message"] = text_or_null(result.message);
  json["iterations"] = result.iterations;
  json["relative_residual"] = result.relative_residual;
  json["nrbe"] = result.nrbe;
  json["inconsistent_part"] = result.inconsistent_part;
  json["rtol"] = report.rtol;
  json["atol"] = report.atol;
  json["seconds"] = {{"read", report.seconds.read},
                     {"assemble", report.seconds.assemble},
                     {"setup", report.seconds.setup},
                     {"solve", report.seconds.solve},
                     {"total", report.seconds.total}};
  if (report.seconds.convert > 0) json["seconds"]["convert"] = report.seconds.convert;
  json["choice"] = {{"name", report.choice}, {"why", report.why}, {"attempts", attempts_json(report.attempts)}};
  json["restarts"] = result.restarts;
  json["residual_replacements"] = result.residual_replacements;
  json["basis_precision"] = result.basis_precision;
  json["cg_form"] = text_or_null(result.cg_form);
  json["product"] = result.product;
  json["recognised"] = text_or_null(result.recognised);
  json["transfers"] = {{"copies", result.transfers.copies},
                       {"bytes", result.transfers.bytes},
                       {"waits", result.transfers.waits},
                       {"scalars", result.transfers.scalars}};
  json["solution_hash"] = text_or_null(report.solution_hash);
  json["output_errors"] = output_errors_json(report.output_errors);
  json["remarks"] = result.remarks;
  json["history"] = result.history;
  return dumped(json);
}

std::string to_json(const CheckReport& report) {
  Json json = head("check");
  json["arguments"] = report.arguments;
  if (report.sizes_only) {
    json["matrix"] = {{"name", report.path},
                      {"rows", report.rows},
                      {"columns", report.columns},
                      {"declared", {{"symmetry", report.symmetry_in_file}, {"field", report.field}}},
                      {"looked_at", "size line"},
                      {"entries_promised", report.entries_promised},
                      {"structural_rank_at_most", report.structural_rank}};
    json["solvable"] = report.solvable;
    json["advice"] = report.advice;
    return dumped(json);
  }
  json["matrix"] = {{"name", report.path},
                    {"rows", report.rows},
                    {"columns", report.columns},
                    {"nnz", report.nnz},
                    {"looked_at", "entries"},
                    {"declared", {{"symmetry", report.symmetry_in_file}, {"field", report.field}}},
                    {"duplicates", report.duplicates},
                    {"explicit_zeros", report.explicit_zeros},
                    {"nonfinite", report.nonfinite},
                    {"block_guess", report.block_guess},
                    {"block_density", report.block_density},
                    {"pattern_symmetric", report.pattern_symmetric},
                    {"symmetric", report.symmetric},
                    {"asymmetry", report.asymmetry},
                    {"diagonal",
                     {{"missing", report.missing_diagonals},
                      {"zero", report.zero_diagonals},
                      {"negative", report.negative_diagonals},
                      {"weak", report.weak_diagonals},
                      {"dominant_rows", report.dominant_rows}}},
                    {"empty_rows", report.empty_rows},
                    {"empty_columns", report.empty_columns},
                    {"structural_rank", report.structural_rank},
                    {"unmatched_rows", report.unmatched_rows},
                    {"ilu0_bytes", report.ilu0_bytes}};
  json["solvable"] = report.solvable;
  json["advice"] = report.advice;
  return dumped(json);
}

std::string to_json(const InfoReport& report) {
  Json json = head("info");
  json["backend"] = backend_json(report.backend);
  json["cuda_built"] = report.cuda_built;
  json["mpi_built"] = report.mpi_built;
  json["memory_bytes"] = report.memory_bytes;
  json["cache_bytes"] = report.cache_bytes;
  json["gpus"] = report.gpus;
  return dumped(json);
}

std::string to_json(const std::vector<SelftestCase>& cases, double total_seconds) {
  Json json = head("selftest");
  Json list = Json::array();
  bool passed = true;
  for (const auto& one : cases) {
    passed = passed && one.passed;
    list.push_back({{"method", one.method},
                    {"problem", one.problem},
                    {"passed", one.passed},
                    {"outcome", one.outcome},
                    {"iterations", one.iterations},
                    {"relative_residual", one.relative_residual},
                    {"seconds", one.seconds}});
  }
  json["passed"] = passed;
  json["tests"] = list;
  json["seconds"] = {{"total", total_seconds}};
  return dumped(json);
}

std::string error_json(const std::string& command, const std::vector<std::string>& arguments, const Error& error) {
  Json json = head(command);
  json["arguments"] = arguments;
  json["converged"] = false;
  json["error"] = {{"code", word(error.code())}, {"message", error.what()}, {"where", text_or_null(error.where())}};
  return dumped(json);
}

}  // namespace echelon
