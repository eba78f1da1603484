// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/solution_hash.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

namespace echelon {

std::string solution_hash(std::span<const double> x) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const double value : x) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xffu)) * 0x100000001b3u;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace echelon
