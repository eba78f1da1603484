// SPDX-License-Identifier: BSD-3-Clause
// Reports as JSON text, by docs/report.schema.json. NaN and infinities become null; strings are made valid UTF-8.
#pragma once

#include <string>
#include <vector>

#include "echelon/report/bench_report.hpp"
#include "echelon/report/run_report.hpp"

namespace echelon {

std::string to_json(const RunReport& report);
std::string to_json(const CheckReport& report);
std::string to_json(const InfoReport& report);
std::string to_json(const std::vector<SelftestCase>& cases, double total_seconds);
std::string to_json(const BenchReport& report);
/// What to_json wrote of its rows and where they come from. Throws Error(file_format) for anything else.
BenchReport bench_report_from_json(const std::string& text);
/// For a run that ended in an error: `error{code,message,where}`.
std::string error_json(const std::string& command, const std::vector<std::string>& arguments, const Error& error);

}  // namespace echelon
