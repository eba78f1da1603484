// SPDX-License-Identifier: BSD-3-Clause
#include "cli/line/nearest.hpp"

#include <algorithm>
#include <utility>

namespace echelon::cli {

int edit_distance(const std::string& a, const std::string& b) {
  const std::size_t columns = b.size() + 1;
  std::vector<int> before(columns), last(columns), row(columns);
  for (std::size_t j = 0; j < columns; ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j < columns; ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last.back();
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  int smallest = std::max(2, static_cast<int>(word.size()) / 3) + 1;
  for (const auto& candidate : known) {
    const int distance = edit_distance(word, candidate);
    if (distance < smallest && distance < static_cast<int>(std::max(word.size(), candidate.size()))) {
      smallest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near.empty() ? std::string() : " (did you mean " + near + "?)";
}

}  // namespace echelon::cli
