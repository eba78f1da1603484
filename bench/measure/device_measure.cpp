// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/device_measure.hpp"

namespace echelon::bench {

std::vector<double> device_samples(int warm_ups, int repeats, const std::function<void()>& work,
                                   const std::function<void()>& before) {
  std::vector<double> samples;
  for (int i = -warm_ups; i < repeats; ++i) {
    if (before) before();
    const double seconds = device_measure()->seconds(work);
    if (i >= 0) samples.push_back(seconds);
  }
  return samples;
}

}  // namespace echelon::bench
