// SPDX-License-Identifier: BSD-3-Clause
// A conversion as the GPU's kernels take it, and how its work is cut: a block of threads takes some lines of a tile at some
// levels, a parallelogram of the grid, entry by entry. Natural order is contiguous along the levels, tile order along the
// lines; the turn is made in shared memory.
#pragma once

#include <cstdint>

#include "echelon/base/stored.hpp"
#include "echelon/matrix/grid_gpu/tile_convert.hpp"
#include "echelon/stencil/layout_view.hpp"

namespace echelon {

/// n / d for 0 ≤ n < 2¹⁶, 1 ≤ d < 2¹⁶ by a product.
struct SmallDivisor {
  unsigned divisor = 1, magic = 0;  // magic 0: d = 1

  explicit SmallDivisor(int d)
      : divisor(static_cast<unsigned>(d)),
        magic(d == 1 ? 0 : static_cast<unsigned>(((std::uint64_t{1} << 32) + divisor - 1) / divisor)) {}
  ECHELON_FN unsigned quotient(unsigned n) const {
    return magic == 0 ? n : static_cast<unsigned>((std::uint64_t{n} * magic) >> 32);
  }
};

/// How many lines and levels a block of threads takes, and how they lie in shared memory.
struct ConvertCut {
  static constexpr int threads = 512, elements_a_thread = 4, most_elements = threads * elements_a_thread;

  int lines_y, lines_z, levels;
  int columns;    // of a block that are taken at a time
  int chunks;     // so often for all of them
  int row_pitch;  // scalars from one (level, column) to the next
  int boxes_y, boxes_z;
  int windows_a_walk, walks;  // a block of threads goes along so many windows; so many blocks for the longest tile

  int lines() const { return lines_y * lines_z; }
  int elements(int rows) const { return lines() * levels * columns * rows; }
  int buffer_scalars() const { return levels * columns * row_pitch; }
};
/// What is asked of a cut: scalar rows of a level side by side, and how many windows a block of threads walks along.
struct ConvertAim {
  int rows, windows;
};
/// Throws Error(bad_argument) for blocks of more rows than a block of threads has elements.
ConvertCut convert_cut(const LayoutView& layout, int longest_tile, int scalar_bytes, ConvertAim aim);

/// Both arrays hold T unless `stored` is shorter.
struct TileConvertView {
  LayoutView layout;  // of the matrix, or of a vector
  ConvertCut cut{};   // of tile order
  std::int64_t runs = 0;
  const void* from = nullptr;
  void* to = nullptr;
  const int* source = nullptr;  // of each entry; null: its own number
  Stored stored = Stored::fp64;
  PartScales scales;
  int center = 0;
  unsigned long long* lost = nullptr;  // null: not counted
};

template <class T>
struct TileConvertKernels {
  void (*to_tiles)(int device, const TileConvertView& view);
  void (*to_user)(int device, const TileConvertView& view);
  void (*narrow)(int device, const TileConvertView& view);  // from tile order to tile order
};
/// Null without CUDA.
template <class T>
const TileConvertKernels<T>* tile_convert_cuda();

}  // namespace echelon
