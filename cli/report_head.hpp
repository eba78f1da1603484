// SPDX-License-Identifier: BSD-3-Clause
// What the report of a command begins with, for commands that write one of their own.
#pragma once

#include <string>
#include <vector>

#include "echelon/report/json_parts.hpp"

namespace echelon::cli {

inline Json report_head(const std::string& command, const std::vector<std::string>& arguments, const BackendInfo& backend) {
  Json json = head(command);
  json["arguments"] = arguments;
  json["backend"] = backend_json(backend);
  return json;
}

}  // namespace echelon::cli
