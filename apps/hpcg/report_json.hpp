// SPDX-License-Identifier: BSD-3-Clause
// The run as JSON, by docs/report.schema.json.
#pragma once

#include <string>
#include <vector>

#include "apps/hpcg/outcome.hpp"
#include "cli/report_head.hpp"

namespace echelon::hpcg {

std::string report_json(const Outcome& outcome, const std::vector<std::string>& arguments, const BackendInfo& backend);

}  // namespace echelon::hpcg
