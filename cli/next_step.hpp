// SPDX-License-Identifier: BSD-3-Clause
// What to try after a solve that did not converge. Never what was just tried: advice goes by what the run did, not only by
// how it ended.
#pragma once

#include <string>

#include "echelon/report/run_report.hpp"

namespace echelon::cli {

std::string next_step(const RunReport& run);

}  // namespace echelon::cli
