// SPDX-License-Identifier: BSD-3-Clause
// A stencil: the neighbours (dx,dy,dz) a grid point is coupled to, itself among them, in natural order (z, then y, then x
// ascending), which is the order of the columns of its matrix row. Points before the centre are the lower part.
// Nothing in the library may look at a stencil's name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace echelon {

struct Offset {
  int x = 0, y = 0, z = 0;
  friend bool operator==(const Offset&, const Offset&) = default;
  /// Natural order of the neighbour in the grid: z first, then y, then x.
  friend bool operator<(const Offset& a, const Offset& b) {
    if (a.z != b.z) return a.z < b.z;
    if (a.y != b.y) return a.y < b.y;
    return a.x < b.x;
  }
};

/// Points of a grid, x fastest. 2-D grids have nz = 1, 1-D also ny = 1.
struct Grid {
  std::int64_t nx = 1, ny = 1, nz = 1;
  std::int64_t points() const { return nx * ny * nz; }
  std::int64_t index(std::int64_t i, std::int64_t j, std::int64_t k) const { return (k * ny + j) * nx + i; }
  bool contains(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz;
  }
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// How many (point, offset) have their neighbour inside the grid: the blocks a matrix on it really has.
std::int64_t neighbours_inside(const Grid& grid, std::span<const Offset> offsets);

class Stencil {
 public:
  /// Any set of offsets below 2³⁰ in size; sorted here, duplicates refused, the centre added when it is missing.
  explicit Stencil(std::vector<Offset> offsets, std::string name = "custom");

  std::span<const Offset> offsets() const& { return offsets_; }
  std::span<const Offset> offsets() const&& = delete;  // it would outlive the stencil
  int size() const { return static_cast<int>(offsets_.size()); }
  /// Position of (0,0,0); entries before it are the lower part.
  int center() const { return center_; }
  /// Position of an offset, −1 when it is not in the stencil.
  int find(Offset offset) const;
  /// True when −o is there for every o.
  bool symmetric() const;
  const std::string& name() const { return name_; }

 private:
  std::vector<Offset> offsets_;
  std::string name_;
  int center_ = 0;
};

namespace stencils {
Stencil star5();  // 2-D, ±1 on the axes
Stencil star9();  // 2-D, ±1 and ±2 on the axes
Stencil box9();   // 2-D, all of the 3×3 square
Stencil star7();
Stencil star13();     // ±1 and ±2 on the axes
Stencil diamond13();  // star7 and the six (±1,∓1,0)-type points with coordinate sum 0
Stencil diamond25();  // |x|+|y|+|z| ≤ 2
Stencil box27();
/// By name; throws Error(bad_argument) that lists the names.
Stencil named(const std::string& name);
std::vector<std::string> names();
}  // namespace stencils

}  // namespace echelon
