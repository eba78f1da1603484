// SPDX-License-Identifier: BSD-3-Clause
// Between user order, [entry][point][column][row] and natural vectors, and tile order (tile_order.hpp), on the device where
// the order lives: each value moves once, so the time is that of a copy. An order of another kind is converted to as well,
// point by point. The user's stencil may be smaller than the order's,
// which has grown by fill: entries it lacks become zero, as does all padding. Values may be stored shorter than they are:
//   stored = round(scale of its part · value), finite values that leave the range are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/base/stored.hpp"
#include "echelon/stencil/tile_order.hpp"

namespace echelon {

/// What L, the diagonal and U are multiplied by before they are rounded.
struct PartScales {
  double lower = 1, diagonal = 1, upper = 1;
};

class TileConversion {
 public:
  /// `order` must outlive this object. Throws Error(structure) when the user's stencil has an entry the order's lacks.
  TileConversion(const TileOrder& order, const Stencil& user);

  // T is double or float. All arrays are on the order's device: mixing places throws Error(device), other sizes
  // Error(size_mismatch). On a GPU these are queued and not waited for.
  template <class T>
  void matrix_to_tiles(const Array<T>& user, Array<T>& tiles) const;
  /// Of values that belong to somebody else, on the order's device like `tiles`.
  template <class T>
  void matrix_to_tiles(std::span<const T> user, T* tiles) const;
  template <class T>
  void matrix_to_user(const Array<T>& tiles, Array<T>& user) const;
  template <class T>
  void vector_to_tiles(const Array<T>& user, Array<T>& tiles) const;
  template <class T>
  void vector_to_user(const Array<T>& tiles, Array<T>& user) const;

  /// Rounded to `stored`; returns how many finite values left its range. Waits for the GPU.
  template <class T>
  std::int64_t narrow_to_tiles(const Array<T>& user, const PartScales& scales, Stored stored, Array<std::byte>& tiles) const;

 private:
  const TileOrder& order_;
  std::int64_t user_scalars_;
  std::vector<int> source_;  // of each entry of the order: the user's, −1 for none
  Array<int> device_source_;
};

/// The same rounding of factors that are in tile order already (no other kind). Waits for the GPU.
template <class T>
std::int64_t narrow_tiles(const TileOrder& order, const Array<T>& tiles, const PartScales& scales, Stored stored,
                          Array<std::byte>& narrow);

}  // namespace echelon
