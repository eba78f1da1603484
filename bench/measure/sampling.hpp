// SPDX-License-Identifier: BSD-3-Clause
// Repeated measurements: medians, and their spread (largest − smallest over the median).
#pragma once

#include <functional>
#include <vector>

namespace echelon::bench {

/// 0 for none.
double median(std::vector<double> samples);
/// 0 for fewer than two.
double spread(const std::vector<double>& samples);

/// Median seconds of `repeats` calls, after one that is not counted.
double median_seconds(int repeats, const std::function<void()>& work);

}  // namespace echelon::bench
