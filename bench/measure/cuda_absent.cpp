// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/device_measure.hpp"

namespace echelon::bench {
const DeviceMeasure* device_measure() { return nullptr; }
}  // namespace echelon::bench
