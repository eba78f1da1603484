// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/iterated/device_iteration_view.hpp"

namespace echelon {
const IterationLaunches* iteration_launches() { return nullptr; }
}  // namespace echelon
