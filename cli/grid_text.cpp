// SPDX-License-Identifier: BSD-3-Clause
#include "cli/grid_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "echelon/base/error.hpp"

namespace echelon::cli {
namespace {

std::vector<std::int64_t> extents_of(const std::string& text) {
  constexpr std::int64_t largest = 1'000'000'000;
  std::vector<std::int64_t> extents;
  const char* at = text.data();
  const char* end = at + text.size();
  while (true) {
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(at, end, extent);
    const bool good = error == std::errc() && extent >= 1 && extent <= largest && extents.size() < 3;
    if (!good || (stop != end && *stop != 'x')) {
      throw Error(ErrorCode::bad_option,
                  fmt::format("--grid: got '{}', needs N, NXxNY or NXxNYxNZ with numbers from 1 to {}", text, largest));
    }
    extents.push_back(extent);
    if (stop == end) return extents;
    at = stop + 1;
  }
}

bool is_flat(const Stencil& stencil) {
  for (const auto& offset : stencil.offsets()) {
    if (offset.z != 0) return false;
  }
  return true;
}

}  // namespace

int grid_extents(const std::string& text) { return static_cast<int>(extents_of(text).size()); }

Grid parse_grid(const std::string& text, const Stencil& stencil) {
  const auto extents = extents_of(text);
  if (extents.size() == 3) return {extents[0], extents[1], extents[2]};
  if (extents.size() == 2) return {extents[0], extents[1], 1};
  return {extents[0], extents[0], is_flat(stencil) ? 1 : extents[0]};
}

}  // namespace echelon::cli
