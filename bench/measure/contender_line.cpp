// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/contender_line.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "echelon/base/error.hpp"

namespace echelon::bench {

Fingerprint fingerprint(const Vector<double>& z) {
  double square = 0, probe = 0;
  for (std::int64_t i = 0; i < z.size(); ++i) {
    square += z[i] * z[i];
    probe += z[i] * std::cos(0.7 * static_cast<double>(i));
  }
  return {std::sqrt(square), probe};
}

bool agree(const Fingerprint& a, const Fingerprint& b, double tolerance) {
  // Written so that NaN disagrees.
  return std::abs(a.norm - b.norm) <= tolerance * a.norm && std::abs(a.probe - b.probe) <= 10 * tolerance * a.norm;
}

ContenderLine ContenderLine::nothing(const std::string& contender, const std::string& why) {
  ContenderLine line;
  line.contender = contender;
  line.not_applicable = why;
  return line;
}

std::string to_line(const ContenderLine& line) {
  nlohmann::ordered_json json = {{"contender", line.contender}, {"method", line.method}};
  if (!line.operation.empty()) json["operation"] = line.operation;
  if (!line.not_applicable.empty()) {
    json["not_applicable"] = line.not_applicable;
    return json.dump();
  }
  json["same_method"] = line.same_method;
  json["ranks"] = line.ranks;
  json["seconds"] = line.seconds;
  json["setup_seconds"] = line.setup_seconds;
  json["iterations"] = line.iterations;
  json["relative_residual"] = line.relative_residual;
  json["answer_norm"] = line.answer.norm;
  json["answer_probe"] = line.answer.probe;
  for (const auto& part : line.parts) json["parts"].push_back({part.name, part.seconds});
  for (const auto& [seconds, residual] : line.history) json["history"].push_back({seconds, residual});
  return json.dump();
}

namespace {

ContenderLine parsed(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  ContenderLine line;
  line.contender = json.at("contender");
  line.method = json.at("method");
  line.operation = json.value("operation", "");
  line.not_applicable = json.value("not_applicable", "");
  if (!line.not_applicable.empty()) return line;
  line.same_method = json.at("same_method");
  line.ranks = json.at("ranks");
  line.seconds = json.at("seconds");
  line.setup_seconds = json.at("setup_seconds");
  line.iterations = json.at("iterations");
  // JSON has no NaN: it travels as null, and an answer that is none must not agree with anything.
  const auto number = [&](const char* name) { return json.at(name).is_null() ? std::nan("") : json.at(name).get<double>(); };
  line.relative_residual = number("relative_residual");
  line.answer = {number("answer_norm"), number("answer_probe")};
  for (const auto& part : json.value("parts", nlohmann::json::array())) line.parts.push_back({part.at(0), part.at(1)});
  for (const auto& at : json.value("history", nlohmann::json::array())) {
    line.history.push_back({at.at(0), at.at(1).is_null() ? std::nan("") : at.at(1).get<double>()});
  }
  return line;
}

}  // namespace

ContenderLine from_line(const std::string& output) {
  const auto end = output.find_last_not_of("\r\n");
  const auto text = end == std::string::npos ? std::string() : output.substr(0, end + 1);
  const auto last = text.substr(text.rfind('\n') + 1);
  try {
    return parsed(last);
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::file_format, fmt::format("expected a contender's line of JSON, got '{}'", last.substr(0, 120)));
  }
}

std::vector<ContenderLine> from_lines(const std::string& output) {
  std::vector<ContenderLine> lines;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) {
    try {
      lines.push_back(parsed(line));
    } catch (const nlohmann::json::exception&) {
      continue;  // a library's own words, or a line cut short
    }
  }
  return lines;
}

}  // namespace echelon::bench
