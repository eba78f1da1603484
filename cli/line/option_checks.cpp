// SPDX-License-Identifier: BSD-3-Clause
#include "cli/line/option_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/line/nearest.hpp"

namespace echelon::cli {
namespace {

template <class T>
bool read_all(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace

std::string check_number(const std::string& text, double smallest, double largest) {
  double value = 0;
  if (read_all(text, value) && std::isfinite(value) && value >= smallest && value <= largest) return {};
  return std::isfinite(largest) ? fmt::format("got '{}', needs a number from {} to {}", text, smallest, largest)
                                : fmt::format("got '{}', needs a finite number of at least {}", text, smallest);
}

std::string check_integer(const std::string& text, std::int64_t smallest, std::int64_t largest) {
  std::int64_t value = 0;
  if (read_all(text, value) && value >= smallest && value <= largest) return {};
  return fmt::format("got '{}', needs a whole number from {} to {}", text, smallest, largest);
}

std::string check_word(const std::string& text, const std::vector<std::string>& have,
                       const std::vector<std::string>& later) {
  if (std::find(have.begin(), have.end(), text) != have.end()) return {};
  if (std::find(later.begin(), later.end(), text) != later.end()) {
    return fmt::format("this version does not have '{}' yet; it has {}", text, fmt::join(have, ", "));
  }
  return fmt::format("got '{}'{}, legal are {}", text, suggestion(text, have), fmt::join(have, ", "));
}

}  // namespace echelon::cli
