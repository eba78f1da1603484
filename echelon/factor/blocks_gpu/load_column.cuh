// SPDX-License-Identifier: BSD-3-Clause
// A column of a small block into a lane's registers, in as few loads as its place allows.
#pragma once

namespace echelon {

template <class T>
struct Packs;
template <>
struct Packs<double> {
  using Two = double2;
};
template <>
struct Packs<float> {
  using Two = float2;
};

/// b scalars that begin at a multiple of b scalars behind an aligned address.
template <int B, class T>
__device__ __forceinline__ void load_column(const T* from, T (&to)[B]) {
  if constexpr (B % 4 == 0 && sizeof(T) == 4) {
#pragma unroll
    for (int n = 0; n < B; n += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + n);
      to[n] = four.x, to[n + 1] = four.y, to[n + 2] = four.z, to[n + 3] = four.w;
    }
  } else if constexpr (B % 2 == 0) {
#pragma unroll
    for (int n = 0; n < B; n += 2) {
      const auto two = *reinterpret_cast<const typename Packs<T>::Two*>(from + n);
      to[n] = two.x, to[n + 1] = two.y;
    }
  } else {
#pragma unroll
    for (int n = 0; n < B; ++n) to[n] = from[n];
  }
}

}  // namespace echelon
