// SPDX-License-Identifier: BSD-3-Clause
// Decimal text to numbers, correctly rounded. A value m·10^e with m ≤ 2⁵³ and |e| ≤ 22 is one exact multiplication or
// division (Clinger 1990); with m < 2⁶⁴ and |e| ≤ 27 it is one 64-bit product with 5^e or quotient by 5^−e, kept with its
// remainder and rounded once; anything else goes to std::from_chars. Digits are taken eight at a time from one word.
// The text must end in a character that belongs to no number (a line end), so no digit loop can run out of it; `safe_end` is
// eight bytes before the end of readable memory. Little-endian words are assumed, as everywhere CUDA runs.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace echelon::decimal {

static_assert(std::endian::native == std::endian::little);

[[gnu::always_inline]] inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

/// Up to eight digits at `p`: their count and value. Eight bytes must be readable.
struct Digits {
  int count;
  std::uint32_t value;
};
[[gnu::always_inline]] inline Digits eight_digits(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  word ^= 0x3030303030303030u;
  // A byte above 9 sets its high bit; a carry spoils only the bytes after the first such byte, which are not looked at.
  const std::uint64_t other = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
  const int count = std::countr_zero(other) >> 3;
  if (count == 0) return {0, 0};
  word <<= 64 - 8 * count;
  word = (word * 10) + (word >> 8);
  const std::uint64_t low = (word & 0x000000FF000000FFu) * 0x000F424000000064u;
  const std::uint64_t high = ((word >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u;
  return {count, static_cast<std::uint32_t>((low + high) >> 32)};
}

/// What a run of digits gave: `digits` counts them all, `value` is meaningful up to 19.
struct DigitRun {
  std::uint64_t value = 0;
  std::int64_t digits = 0;
};
[[gnu::always_inline]] inline DigitRun digit_run(const char*& p, const char* safe_end, DigitRun run = {}) {
  constexpr std::uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  while (p <= safe_end) {
    const Digits eight = eight_digits(p);
    run.value = run.value * power[eight.count] + eight.value;
    run.digits += eight.count;
    p += eight.count;
    if (eight.count < 8) return run;
  }
  for (; is_digit(*p); ++p, ++run.digits) run.value = run.value * 10 + static_cast<unsigned char>(*p - '0');
  return run;
}

enum class Shape { malformed, whole, real, nonfinite };  // whole: digits only; nonfinite: nan, inf, or too large
struct Number {
  Shape shape = Shape::malformed;
  double value = 0;
};

inline constexpr int largest_fives = 27;  // 5²⁷ < 2⁶³
inline constexpr auto fives = [] {
  std::array<std::uint64_t, largest_fives + 1> power{1};
  for (std::size_t i = 1; i < power.size(); ++i) power[i] = 5 * power[i - 1];
  return power;
}();

/// m·10^e for m > 0, |e| ≤ 27, rounded to nearest even. Every result is a normal number.
inline double scaled(std::uint64_t m, int e) {
  __extension__ using Wide = unsigned __int128;
  const int m_shift = std::countl_zero(m);
  const std::uint64_t five = fives[static_cast<std::size_t>(e < 0 ? -e : e)];
  const int five_shift = std::countl_zero(five);
  m <<= m_shift;
  const std::uint64_t d = five << five_shift;
  std::uint64_t high;  // 64 or 63 significant bits of the result
  bool inexact;        // something below them
  int exponent;        // of the last bit of `high`
  if (e < 0) {
    const Wide dividend = static_cast<Wide>(m) << 63;
    high = static_cast<std::uint64_t>(dividend / d);
    inexact = dividend != static_cast<Wide>(high) * d;
    exponent = e - m_shift + five_shift - 63;
  } else {
    const Wide product = static_cast<Wide>(m) * d;
    high = static_cast<std::uint64_t>(product >> 64);
    inexact = static_cast<std::uint64_t>(product) != 0;
    exponent = e - m_shift - five_shift + 64;
  }
  const int cut = 11 - std::countl_zero(high);
  const std::uint64_t below = high & ((std::uint64_t{1} << cut) - 1), half = std::uint64_t{1} << (cut - 1);
  std::uint64_t mantissa = high >> cut;
  mantissa += below > half || (below == half && (inexact || (mantissa & 1) != 0));
  const auto power_of_two = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent + cut) << 52);
  return static_cast<double>(mantissa) * power_of_two;
}

/// The general case: the token [p, end) by grammar, `D` exponents and the words nan, inf, infinity included.
Number parse_slowly(const char*& p, const char* end);

/// The number at `p`, which moves behind it. `end` is the end of the text.
[[gnu::always_inline]] inline Number parse(const char*& p, const char* safe_end, const char* end) {
  constexpr double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* const start = p;
  const bool negative = *p == '-';
  if (negative) ++p;
  DigitRun mantissa = digit_run(p, safe_end);
  std::int64_t exponent = 0;
  Shape shape = Shape::whole;
  bool digits = mantissa.digits > 0;
  if (*p == '.') {
    shape = Shape::real;
    const char* const fraction = ++p;
    if (mantissa.value == 0 && mantissa.digits <= 1) {
      mantissa.digits = 0;  // leading zeros are no digits of m
      while (*p == '0') ++p;
    }
    mantissa = digit_run(p, safe_end, mantissa);
    exponent = fraction - p;
    digits = digits || p > fraction;
  }
  if (digits && mantissa.digits <= 19) {
    if ((*p | 0x20) == 'e' || (*p | 0x20) == 'd') {
      shape = Shape::real;
      ++p;
      const bool down = *p == '-';
      if (down || *p == '+') ++p;
      const DigitRun written = digit_run(p, safe_end);
      const bool simple = written.digits > 0 && written.digits <= 4;
      exponent = simple ? exponent + (down ? -1 : 1) * static_cast<std::int64_t>(written.value) : 1000;
    }
    if (mantissa.value <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
      const double m = static_cast<double>(mantissa.value);
      const double value = exponent < 0 ? m / power[-exponent] : m * power[exponent];
      return {shape, negative ? -value : value};
    }
    if (mantissa.value != 0 && exponent >= -largest_fives && exponent <= largest_fives) {
      const double value = scaled(mantissa.value, static_cast<int>(exponent));
      return {shape, negative ? -value : value};
    }
  }
  p = start;
  return parse_slowly(p, end);
}

}  // namespace echelon::decimal
