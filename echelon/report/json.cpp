// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "echelon/base/version.hpp"

namespace echelon {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json positive_or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

Json head(const std::string& command) { return {{"echelon_version", version()}, {"command", command}}; }

std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

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
          {"symbolic_seconds", pc.symbolic_seconds},
          {"numeric_seconds", pc.numeric_seconds},
          {"trisolve", pc.trisolve ? trisolve_json(*pc.trisolve) : Json(nullptr)},
          {"remarks", pc.remarks}};
}

Json backend_json(const BackendInfo& backend) {
  return {{"kind", backend.kind},
          {"name", backend.name},
          {"threads", backend.threads},
          {"simd", backend.simd},
          {"copy_bandwidth_gbs", positive_or_null(backend.copy_bandwidth / 1e9)}};
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

Json parts_json(const std::vector<TimePart>& parts) {
  Json json = Json::object();
  for (const auto& part : parts) json[part.name] = part.seconds;
  return json;
}

Json peer_json(const PeerTime& peer, double our_seconds) {
  Json json = {{"name", peer.name},       {"method", peer.method}, {"ranks", peer.ranks},
               {"seconds", peer.seconds}, {"spread", peer.spread}, {"speedup", peer.seconds / our_seconds}};
  if (peer.analysis_seconds > 0) json["analysis_seconds"] = peer.analysis_seconds;
  if (peer.iterations > 0) {
    json["setup_seconds"] = peer.setup_seconds;
    json["iterations"] = peer.iterations;
    json["relative_residual"] = peer.relative_residual;
  }
  if (!peer.reason.empty()) json["reason"] = peer.reason;
  if (!peer.parts.empty()) json["parts"] = parts_json(peer.parts);
  return json;
}

Json bench_row_json(const BenchRow& row) {
  const PeerTime* best = row.best_peer();
  Json json = {{"operation", row.operation},
               {"case", row.name},
               {"problem", row.problem},
               {"stencil", row.stencil},
               {"grid", row.grid},
               {"dof", row.dof},
               {"n", row.n},
               {"nonzeros", row.nonzeros},
               {"precision", row.precision},
               {"threads", row.threads},
               {"seconds", row.seconds},
               {"spread", row.spread},
               {"analysis_seconds", row.analysis_seconds},
               {"bytes", positive_or_null(row.bytes)},
               {"gflops", positive_or_null(row.flops / row.seconds / 1e9)},
               {"copy_gbs", positive_or_null(row.copy / 1e9)},
               {"triad_gbs", positive_or_null(row.triad / 1e9)},
               {"percent_of_copy", positive_or_null(row.percent_of(row.copy))},
               {"percent_of_triad", positive_or_null(row.percent_of(row.triad))},
               {"kernel", text_or_null(row.kernel)},
               {"schedule", text_or_null(row.schedule)}};
  if (row.iterations > 0) {
    json["basis"] = text_or_null(row.basis);
    json["setup_seconds"] = row.setup_seconds;
    json["solve_seconds"] = row.solve_seconds;
    json["iterations"] = row.iterations;
    if (row.iteration_ratio > 0) json["iteration_ratio"] = row.iteration_ratio;
    json["relative_residual"] = row.relative_residual;
  }
  if (!row.reason.empty()) json["reason"] = row.reason;
  if (!row.parts.empty()) json["parts"] = parts_json(row.parts);
  if (!row.setup_parts.empty()) json["setup_parts"] = parts_json(row.setup_parts);
  if (row.copy_seconds > 0) json["copy_seconds"] = row.copy_seconds;
  if (row.upload_seconds > 0) json["upload_seconds"] = row.upload_seconds;
  if (!row.measures.empty()) {
    json["measures"] = Json::object();
    for (const auto& one : row.measures) json["measures"][one.name] = one.value;
  }
  json["peer"] = best ? Json(best->name + ", " + best->method) : Json(nullptr);
  json["peer_seconds"] = best ? Json(best->seconds) : Json(nullptr);
  json["speedup"] = best ? Json(best->seconds / row.seconds) : Json(nullptr);
  json["peers"] = Json::array();
  for (const auto& peer : row.peers) json["peers"].push_back(peer_json(peer, row.seconds));
  return json;
}

Json not_compared_json(const std::vector<NotCompared>& list, const char* who) {
  Json json = Json::array();
  for (const auto& one : list) json.push_back({{"case", one.name}, {who, one.who}, {"why", one.why}});
  return json;
}

}  // namespace

std::string to_json(const RunReport& report) {
  const Report& result = report.result;
  Json json = head(report.command);
  json["arguments"] = report.arguments;
  json["problem"] = problem_json(report.problem);
  json["solver"] = result.solver;
  json["preconditioner"] = preconditioner_json(result.preconditioner);
  json["backend"] = backend_json(report.backend);
  json["converged"] = result.converged;
  json["reason"] = word(result.reason);
  json["message"] = text_or_null(result.message);
  json["iterations"] = result.iterations;
  json["relative_residual"] = result.relative_residual;
  json["nrbe"] = result.nrbe;
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
  json["remarks"] = result.remarks;
  json["history"] = result.history;
  return dumped(json);
}

std::string to_json(const CheckReport& report) {
  Json json = head("check");
  json["arguments"] = report.arguments;
  json["matrix"] = {{"name", report.path},
                    {"rows", report.rows},
                    {"columns", report.columns},
                    {"nnz", report.nnz},
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

std::string to_json(const BenchReport& report) {
  Json json = head("bench");
  json["arguments"] = report.arguments;
  json["kind"] = report.kind;
  json["machine"] = text_or_null(report.machine);
  json["commit"] = text_or_null(report.commit);
  json["backend"] = backend_json(report.backend);
  json["cache_bytes"] = report.cache_bytes;
  json["small"] = report.small;
  json["rounds"] = report.rounds;
  json["contenders"] = {{"found", report.contenders_found}, {"missing", report.contenders_missing}};
  Json cases = Json::array();
  for (const auto& row : report.rows) cases.push_back(bench_row_json(row));
  json["cases"] = cases;
  json["not_compared"] = not_compared_json(report.not_compared, "contender");
  json["missing"] = not_compared_json(report.missing, "operation");
  return dumped(json);
}

namespace {

/// What a report's field says; the default where it is null or missing.
template <class T>
T field(const Json& json, const char* name, T otherwise = {}) {
  const auto at = json.find(name);
  return at == json.end() || at->is_null() ? otherwise : at->get<T>();
}

std::vector<TimePart> parts_from(const Json& json, const char* name = "parts") {
  std::vector<TimePart> parts;
  const auto at = json.find(name);
  if (at == json.end()) return parts;
  for (const auto& part : at->items()) parts.push_back({part.key(), part.value().get<double>()});
  return parts;
}

BenchRow bench_row_from(const Json& json) {
  BenchRow row;
  row.operation = field<std::string>(json, "operation");
  row.name = field<std::string>(json, "case");
  row.problem = field<std::string>(json, "problem");
  row.stencil = field<std::string>(json, "stencil");
  row.grid = field<std::array<std::int64_t, 3>>(json, "grid");
  row.dof = field<int>(json, "dof", 1);
  row.n = field<std::int64_t>(json, "n");
  row.nonzeros = field<std::int64_t>(json, "nonzeros");
  row.precision = field<std::string>(json, "precision");
  row.basis = field<std::string>(json, "basis");
  row.threads = field<int>(json, "threads", 1);
  row.seconds = field<double>(json, "seconds");
  row.spread = field<double>(json, "spread");
  row.analysis_seconds = field<double>(json, "analysis_seconds");
  row.setup_seconds = field<double>(json, "setup_seconds");
  row.solve_seconds = field<double>(json, "solve_seconds");
  row.bytes = field<double>(json, "bytes");
  row.flops = field<double>(json, "gflops") * 1e9 * row.seconds;
  row.triad = field<double>(json, "triad_gbs") * 1e9;
  row.copy = field<double>(json, "copy_gbs") * 1e9;
  row.kernel = field<std::string>(json, "kernel");
  row.schedule = field<std::string>(json, "schedule");
  row.iterations = field<std::int64_t>(json, "iterations");
  row.iteration_ratio = field<double>(json, "iteration_ratio");
  row.relative_residual = field<double>(json, "relative_residual");
  row.reason = field<std::string>(json, "reason");
  row.parts = parts_from(json);
  row.setup_parts = parts_from(json, "setup_parts");
  row.copy_seconds = field<double>(json, "copy_seconds");
  row.upload_seconds = field<double>(json, "upload_seconds");
  const Json measures = field<Json>(json, "measures", Json::object());
  for (const auto& one : measures.items()) {
    row.measures.push_back({one.key(), one.value().is_null() ? std::nan("") : one.value().get<double>()});
  }
  for (const Json& one : field<Json>(json, "peers", Json::array())) {
    PeerTime peer;
    peer.name = field<std::string>(one, "name");
    peer.method = field<std::string>(one, "method");
    peer.ranks = field<int>(one, "ranks", 1);
    peer.seconds = field<double>(one, "seconds");
    peer.spread = field<double>(one, "spread");
    peer.setup_seconds = field<double>(one, "setup_seconds");
    peer.analysis_seconds = field<double>(one, "analysis_seconds");
    peer.iterations = field<std::int64_t>(one, "iterations");
    peer.relative_residual = field<double>(one, "relative_residual");
    peer.reason = field<std::string>(one, "reason");
    peer.parts = parts_from(one);
    row.peers.push_back(std::move(peer));
  }
  return row;
}

}  // namespace

BenchReport bench_report_from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (field<std::string>(json, "command") != "bench") {
      throw Error(ErrorCode::file_format, "not the report of a benchmark: \"command\" is not \"bench\"");
    }
    BenchReport report;
    report.kind = field<std::string>(json, "kind");
    report.machine = field<std::string>(json, "machine");
    report.commit = field<std::string>(json, "commit");
    report.arguments = field<std::vector<std::string>>(json, "arguments");
    report.rounds = field<int>(json, "rounds");
    report.small = field<bool>(json, "small");
    report.cache_bytes = field<std::int64_t>(json, "cache_bytes");
    const Json backend = field<Json>(json, "backend", Json::object());
    report.backend.kind = field<std::string>(backend, "kind");
    report.backend.name = field<std::string>(backend, "name");
    report.backend.threads = field<int>(backend, "threads", 1);
    report.backend.copy_bandwidth = field<double>(backend, "copy_bandwidth_gbs") * 1e9;
    for (const Json& row : field<Json>(json, "cases", Json::array())) report.rows.push_back(bench_row_from(row));
    return report;
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::file_format, std::string("not the report of a benchmark: ") + error.what());
  }
}

std::string error_json(const std::string& command, const std::vector<std::string>& arguments, const Error& error) {
  Json json = head(command);
  json["arguments"] = arguments;
  json["converged"] = false;
  json["error"] = {{"code", word(error.code())}, {"message", error.what()}, {"where", text_or_null(error.where())}};
  return dumped(json);
}

}  // namespace echelon
