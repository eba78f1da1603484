// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/work_budget.hpp"

#include <fmt/format.h>

namespace echelon {

TooCostly::TooCostly(const std::string& what, std::int64_t allowed)
    : Error(ErrorCode::will_not_fit, fmt::format("{} would take more than the {:.1e} operations allowed to its set-up", what,
                                                 static_cast<double>(allowed))) {}

}  // namespace echelon
