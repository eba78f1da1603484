// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/bandwidth.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "bench/measure/sampling.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::bench {
namespace {

constexpr int passes = 5;
constexpr std::int64_t grain = 512;  // a page of doubles

template <class Work>
void over_shares(std::int64_t n, const Work& work) {
  const int team = threads();
#pragma omp parallel num_threads(team)
  {
    const auto [begin, end] = share(n, omp_get_thread_num(), omp_get_num_threads(), grain);
    if (begin < end) work(begin, end - begin);
  }
}

}  // namespace

BandwidthProbe::BandwidthProbe(std::int64_t bytes) : numbers_(std::max<std::int64_t>(bytes / 8, 6 * grain)) {
  over_shares(numbers_.size(),
              [&](std::int64_t begin, std::int64_t count) { std::fill_n(numbers_.data() + begin, count, 1.0); });
}

Bandwidth BandwidthProbe::measure() {
  double* const x = numbers_.data();
  const std::int64_t third = numbers_.size() / 3, half = numbers_.size() / 2;
  const double triad = median_seconds(passes, [&] {
    over_shares(third, [&](std::int64_t begin, std::int64_t count) {
      triad_range(x + begin, x + third + begin, x + 2 * third + begin, 0.5, count);
    });
  });
  const double copy = median_seconds(passes, [&] {
    over_shares(half, [&](std::int64_t begin, std::int64_t count) {
      std::memcpy(x + begin, x + half + begin, static_cast<std::size_t>(count) * sizeof(double));
    });
  });
  return {24.0 * static_cast<double>(third) / triad, 16.0 * static_cast<double>(half) / copy};
}

}  // namespace echelon::bench
