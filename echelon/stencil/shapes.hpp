// SPDX-License-Identifier: BSD-3-Clause
// The block sizes with kernels of their own. This list drives instantiation, look-up, typed tests and benchmarks; a size
// outside it runs the generic kernel (block size at run time), and reports say so.
#pragma once

#include <array>
#include <string>
#include <utility>

namespace echelon::shapes {

using BlockSizes = std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7, 8>;
inline constexpr int largest_block = 8;

inline constexpr bool specialised(int block) { return block >= 1 && block <= largest_block; }

/// "b=3", or "generic b=11"; `largest` where a family of kernels has fewer sizes.
inline std::string kernel_name(int block, int largest = largest_block) {
  return (specialised(block) && block <= largest ? "b=" : "generic b=") + std::to_string(block);
}

/// A look-up table of one entry a block size, the generic one (block size 0) first: table[specialised(b) ? b : 0].
/// `Entry` is a callable template: entry.template operator()<B>() returns the element for block size B.
template <class Element, class Entry>
constexpr std::array<Element, largest_block + 1> table(Entry entry) {
  return [&]<int... B>(std::integer_sequence<int, B...>) {
    return std::array<Element, largest_block + 1>{entry.template operator()<0>(), entry.template operator()<B>()...};
  }
  (BlockSizes{});
}

}  // namespace echelon::shapes
