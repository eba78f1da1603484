// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/sampling.hpp"

#include <algorithm>

#include "echelon/base/timer.hpp"

namespace echelon::bench {

double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

double spread(const std::vector<double>& samples) {
  if (samples.size() < 2) return 0;
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  return (*most - *least) / median(samples);
}

double median_seconds(int repeats, const std::function<void()>& work) {
  work();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const Timer timer;
    work();
    seconds.push_back(timer.seconds());
  }
  return median(std::move(seconds));
}

}  // namespace echelon::bench
