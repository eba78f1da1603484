// SPDX-License-Identifier: BSD-3-Clause
// The machine as reports show it.
#pragma once

#include <string>

#include "echelon/report/run_report.hpp"

namespace echelon::cli {

/// The host; its copy bandwidth is measured only when asked for, because that takes memory beyond the cache and 0.2 s or
/// more: for what measures, not for a solve.
BackendInfo host_backend(bool with_bandwidth);
/// The first GPU, which must be there, with the host's threads and SIMD; its copy bandwidth when asked for.
BackendInfo cuda_backend_info(bool with_bandwidth = false);
/// For a report's remarks, when fewer threads could be created than were asked for; otherwise empty.
std::string fewer_threads_remark();

}  // namespace echelon::cli
