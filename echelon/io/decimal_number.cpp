// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/io/decimal_number.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

namespace echelon::decimal {
namespace {

bool same_word(const char* p, const char* end, std::string_view word) {
  if (end - p < static_cast<std::ptrdiff_t>(word.size())) return false;
  return std::equal(word.begin(), word.end(), p, [](char a, char b) { return a == (b | 0x20); });
}

}  // namespace

Number parse_slowly(const char*& p, const char* end) {
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  const double sign = negative ? -1 : 1;
  for (const std::string_view word : {"infinity", "inf", "nan"}) {
    if (!same_word(p, end, word)) continue;
    p += word.size();
    const bool nan = word == "nan";
    return {Shape::nonfinite,
            sign * (nan ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())};
  }

  const char* const first = p;
  // Digits before the point that count, or minus the zeros behind it: with the exponent this tells too large from too small.
  std::int64_t magnitude = 0;
  std::int64_t digits = 0;
  bool leading = true;
  for (; p < end && is_digit(*p); ++p, ++digits) {
    leading = leading && *p == '0';
    magnitude += !leading;
  }
  Number number{Shape::whole, 0};
  if (p < end && *p == '.') {
    number.shape = Shape::real;
    for (++p; p < end && is_digit(*p); ++p, ++digits) {
      leading = leading && *p == '0';
      magnitude -= leading;
    }
  }
  if (digits == 0) return {};
  const char* mark = nullptr;
  std::int64_t exponent = 0;
  if (p < end && ((*p | 0x20) == 'e' || (*p | 0x20) == 'd')) {
    number.shape = Shape::real;
    mark = p++;
    const bool down = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    const char* const exponent_digits = p;
    constexpr std::int64_t enough = std::int64_t{1} << 59;  // no text is longer, so no mantissa can make up for it
    for (; p < end && is_digit(*p); ++p) exponent = std::min(enough, exponent * 10 + (*p - '0'));
    if (p == exponent_digits) return {};
    if (down) exponent = -exponent;
  }

  double value = 0;
  std::from_chars_result outcome{};
  if (mark && (*mark | 0x20) == 'd') {
    std::string token(first, p);
    token[static_cast<std::size_t>(mark - first)] = 'e';
    outcome = std::from_chars(token.data(), token.data() + token.size(), value);
  } else {
    outcome = std::from_chars(first, p, value);
  }
  if (outcome.ec == std::errc::result_out_of_range || value > std::numeric_limits<double>::max()) {
    if (magnitude + exponent > 0 && !leading) return {Shape::nonfinite, sign * std::numeric_limits<double>::infinity()};
    value = 0;  // too small for the smallest denormal
  } else if (outcome.ec != std::errc()) {
    return {};
  }
  number.value = sign * value;
  return number;
}

}  // namespace echelon::decimal
