// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/stencil/stencil.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "echelon/base/error.hpp"

namespace echelon {

std::int64_t neighbours_inside(const Grid& grid, std::span<const Offset> offsets) {
  const auto along = [](std::int64_t n, int d) { return std::max<std::int64_t>(0, n - std::abs(std::int64_t{d})); };
  std::int64_t count = 0;
  for (const Offset& o : offsets) count += along(grid.nx, o.x) * along(grid.ny, o.y) * along(grid.nz, o.z);
  return count;
}

Stencil::Stencil(std::vector<Offset> offsets, std::string name) : offsets_(std::move(offsets)), name_(std::move(name)) {
  // Sums and negatives of offsets must be ints.
  constexpr int farthest = 1 << 30;
  for (const Offset& o : offsets_) {
    const auto far = [](int d) { return d <= -farthest || d >= farthest; };
    if (far(o.x) || far(o.y) || far(o.z)) {
      throw Error(ErrorCode::bad_argument,
                  fmt::format("stencil '{}': the offset ({},{},{}) reaches 2^30 or farther", name_, o.x, o.y, o.z));
    }
  }
  const Offset center{};
  if (std::find(offsets_.begin(), offsets_.end(), center) == offsets_.end()) offsets_.push_back(center);
  std::sort(offsets_.begin(), offsets_.end());
  const auto twice = std::adjacent_find(offsets_.begin(), offsets_.end());
  if (twice != offsets_.end()) {
    throw Error(ErrorCode::duplicate_entry,
                fmt::format("stencil '{}' contains the offset ({},{},{}) twice", name_, twice->x, twice->y, twice->z));
  }
  center_ = find(center);
}

int Stencil::find(Offset offset) const {
  const auto at = std::lower_bound(offsets_.begin(), offsets_.end(), offset);
  return at != offsets_.end() && *at == offset ? static_cast<int>(at - offsets_.begin()) : -1;
}

bool Stencil::symmetric() const {
  return std::all_of(offsets_.begin(), offsets_.end(), [&](const Offset& o) { return find({-o.x, -o.y, -o.z}) >= 0; });
}

namespace stencils {
namespace {

/// The offsets of the cube |x|,|y|,|z| ≤ reach that `keep` wants; 2-D when `flat`.
template <class Keep>
Stencil choose(const char* name, int reach, bool flat, Keep keep) {
  std::vector<Offset> offsets;
  const int reach_z = flat ? 0 : reach;
  for (int z = -reach_z; z <= reach_z; ++z) {
    for (int y = -reach; y <= reach; ++y) {
      for (int x = -reach; x <= reach; ++x) {
        if (keep(x, y, z)) offsets.push_back({x, y, z});
      }
    }
  }
  return Stencil(std::move(offsets), name);
}

bool on_axis(int x, int y, int z) { return (x != 0) + (y != 0) + (z != 0) <= 1; }
bool anywhere(int, int, int) { return true; }
bool in_diamond13(int x, int y, int z) { return on_axis(x, y, z) || x + y + z == 0; }
bool in_diamond25(int x, int y, int z) { return std::abs(x) + std::abs(y) + std::abs(z) <= 2; }

struct Named {
  const char* name;
  Stencil (*make)();
};
constexpr Named all[] = {{"star5", star5},   {"star9", star9},         {"box9", box9},           {"star7", star7},
                         {"star13", star13}, {"diamond13", diamond13}, {"diamond25", diamond25}, {"box27", box27}};

}  // namespace

Stencil star5() { return choose("star5", 1, true, on_axis); }
Stencil star9() { return choose("star9", 2, true, on_axis); }
Stencil box9() { return choose("box9", 1, true, anywhere); }
Stencil star7() { return choose("star7", 1, false, on_axis); }
Stencil star13() { return choose("star13", 2, false, on_axis); }
Stencil diamond13() { return choose("diamond13", 1, false, in_diamond13); }
Stencil diamond25() { return choose("diamond25", 2, false, in_diamond25); }
Stencil box27() { return choose("box27", 1, false, anywhere); }

Stencil named(const std::string& name) {
  for (const auto& entry : all) {
    if (name == entry.name) return entry.make();
  }
  throw Error(ErrorCode::bad_argument,
              fmt::format("there is no stencil '{}': known are {}", name, fmt::join(names(), ", ")));
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const auto& entry : all) list.emplace_back(entry.name);
  return list;
}

}  // namespace stencils
}  // namespace echelon
