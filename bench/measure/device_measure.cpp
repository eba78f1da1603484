// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/device_measure.hpp"

#include <algorithm>

namespace echelon::bench {

std::vector<double> device_samples(bool warm, int repeats, const std::function<void()>& work,
                                   const std::function<void()>& before) {
  const auto once = [&] {
    if (before) before();
    return device_measure()->seconds(work);
  };
  constexpr double warm_after = 0.02;
  constexpr int most_warm_ups = 50;
  double spent = 0;
  for (int n = 0; warm && n < most_warm_ups && spent < warm_after; ++n) spent += once();
  std::vector<double> samples;
  for (int n = 0; n < repeats; ++n) samples.push_back(once());
  return samples;
}

std::vector<double> device_samples_for_a_while(const std::function<void()>& work, const std::function<void()>& before) {
  constexpr double enough = 0.2;
  constexpr int most = 10;
  const auto first = device_samples(false, 1, work, before);
  const int more = std::clamp(static_cast<int>(enough / first[0]), 0, most);
  return more == 0 ? first : device_samples(true, more, work, before);
}

}  // namespace echelon::bench
