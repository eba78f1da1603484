// SPDX-License-Identifier: BSD-3-Clause
// What every report has. Only for the files that write JSON: it brings the JSON library along.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "echelon/base/version.hpp"
#include "echelon/report/run_report.hpp"

namespace echelon {

using Json = nlohmann::ordered_json;

inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
inline Json positive_or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

inline Json head(const std::string& command) { return {{"echelon_version", version()}, {"command", command}}; }

inline std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

inline Json backend_json(const BackendInfo& backend) {
  return {{"kind", backend.kind},
          {"name", backend.name},
          {"threads", backend.threads},
          {"simd", backend.simd},
          {"copy_bandwidth_gbs", positive_or_null(backend.copy_bandwidth / 1e9)}};
}

}  // namespace echelon
