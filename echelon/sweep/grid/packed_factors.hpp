// SPDX-License-Identifier: BSD-3-Clause
// L and U of a wide scalar stencil as the packs that packed_struct_sweep reads, copied from planes in one pass. Triangles of
// few entries stay on planes, and so does what there is no room to copy.
#pragma once

#include "echelon/base/array.hpp"
#include "echelon/sweep/grid/struct_sweep.hpp"

namespace echelon {

template <class T>
class PackedFactors {
 public:
  /// From one grid; false: nothing is there now. New values of the same entries allocate nothing.
  bool store(const StructTriangle& lower, const StructTriangle& upper);
  /// Keeps the memory.
  void forget() { lower_ = upper_ = nullptr; }
  const T* lower() const { return lower_; }  // null: not there
  const T* upper() const { return upper_; }
  std::int64_t bytes() const { return packs_.bytes(); }

 private:
  Array<T> packs_;
  const T *lower_ = nullptr, *upper_ = nullptr;
};

}  // namespace echelon
