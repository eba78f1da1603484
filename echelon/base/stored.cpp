// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/stored.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

std::uint16_t to_fp16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const float size = std::abs(value);
  if (std::isnan(value)) return sign | 0x7E00;
  if (size >= 65520.0F) return sign | 0x7C00;
  if (size < 0x1p-14F) {
    // Below the normal numbers the spacing is 2⁻²⁴: adding 2⁻¹ of a float with that spacing rounds.
    const float rounded = size + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(0.5F)));
  }
  const auto magnitude = std::bit_cast<std::uint32_t>(size);
  const std::uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | ((rounded - (112U << 23)) >> 13));
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

float from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} << 16 & 0x80000000U, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent == 0) return (sign ? -1.0F : 1.0F) * static_cast<float>(fraction) * 0x1p-24F;
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

}  // namespace

const char* word(Stored stored) {
  switch (stored) {
    case Stored::fp64: return "fp64";
    case Stored::fp32: return "fp32";
    case Stored::bf16: return "bf16";
    case Stored::fp16: return "fp16";
  }
  return "fp64";
}

Stored stored_from_word(const std::string& text) {
  for (const Stored stored : {Stored::fp64, Stored::fp32, Stored::bf16, Stored::fp16}) {
    if (text == word(stored)) return stored;
  }
  throw Error(ErrorCode::bad_argument, fmt::format("no precision is called '{}'; there are fp64, fp32, bf16, fp16", text));
}

int bytes_of(Stored stored) { return stored == Stored::fp64 ? 8 : stored == Stored::fp32 ? 4 : 2; }

template <class T>
std::int64_t narrow(const T* from, std::int64_t n, T scale, Stored stored, void* to) {
  std::int64_t lost = 0;
  const int team = threads_for(n);
#pragma omp parallel for num_threads(team) reduction(+ : lost) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    const T value = scale * from[i];
    const auto single = static_cast<float>(value);
    bool fits = std::isfinite(single);
    if (stored == Stored::fp64) {
      static_cast<double*>(to)[i] = static_cast<double>(value);
      fits = true;
    } else if (stored == Stored::fp32) {
      static_cast<float*>(to)[i] = single;
    } else if (stored == Stored::bf16) {
      const std::uint16_t bits = to_bf16(single);
      static_cast<std::uint16_t*>(to)[i] = bits;
      fits = fits && std::isfinite(from_bf16(bits));
    } else {
      const std::uint16_t bits = to_fp16(single);
      static_cast<std::uint16_t*>(to)[i] = bits;
      fits = fits && std::isfinite(from_fp16(bits));
    }
    lost += std::isfinite(value) && !fits;
  }
  return lost;
}

double widened(const void* values, std::int64_t i, Stored stored) {
  switch (stored) {
    case Stored::fp64: return static_cast<const double*>(values)[i];
    case Stored::fp32: return static_cast<const float*>(values)[i];
    case Stored::bf16: return from_bf16(static_cast<const std::uint16_t*>(values)[i]);
    case Stored::fp16: return from_fp16(static_cast<const std::uint16_t*>(values)[i]);
  }
  return 0;
}

template std::int64_t narrow(const double*, std::int64_t, double, Stored, void*);
template std::int64_t narrow(const float*, std::int64_t, float, Stored, void*);

}  // namespace echelon
