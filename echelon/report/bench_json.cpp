// SPDX-License-Identifier: BSD-3-Clause
// Reports of benchmarks, written and read.
#include "echelon/report/json.hpp"
#include "echelon/report/json_parts.hpp"

namespace echelon {
namespace {

Json parts_json(const std::vector<TimePart>& parts) {
  Json json = Json::object();
  for (const auto& part : parts) json[part.name] = part.seconds;
  return json;
}

Json history_json(const ResidualHistory& history) {
  Json json = Json::array();
  for (const auto& at : history) json.push_back({at.seconds, at.residual});
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
  if (!peer.history.empty()) json["history"] = history_json(peer.history);
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
  if (row.setup_span_seconds > 0) json["setup_span_seconds"] = row.setup_span_seconds;
  if (row.copy_seconds > 0) json["copy_seconds"] = row.copy_seconds;
  if (row.upload_seconds > 0) json["upload_seconds"] = row.upload_seconds;
  if (!row.measures.empty()) {
    json["measures"] = Json::object();
    for (const auto& one : row.measures) json["measures"][one.name] = one.value;
  }
  if (!row.history.empty()) json["history"] = history_json(row.history);
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

ResidualHistory history_from(const Json& json) {
  ResidualHistory history;
  for (const Json& at : field<Json>(json, "history", Json::array())) {
    history.push_back({at.at(0).get<double>(), at.at(1).is_null() ? std::nan("") : at.at(1).get<double>()});
  }
  return history;
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
  row.setup_span_seconds = field<double>(json, "setup_span_seconds");
  row.copy_seconds = field<double>(json, "copy_seconds");
  row.upload_seconds = field<double>(json, "upload_seconds");
  row.history = history_from(json);
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
    peer.history = history_from(one);
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

}  // namespace echelon
