// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/bench_report.hpp"

#include <algorithm>

namespace echelon {

double BenchRow::percent_of(double bandwidth) const {
  return seconds > 0 && bandwidth > 0 ? 100 * bytes / seconds / bandwidth : 0;
}

const PeerTime* BenchRow::best_peer() const {
  const auto best = std::min_element(peers.begin(), peers.end(),
                                     [](const PeerTime& a, const PeerTime& b) { return a.seconds < b.seconds; });
  return best == peers.end() ? nullptr : &*best;
}

}  // namespace echelon
