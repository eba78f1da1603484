// SPDX-License-Identifier: BSD-3-Clause
// Look-up of the block eliminations by their size; each size is compiled in a file of its own.
#include "echelon/factor/grid/struct_factor.hpp"

namespace echelon {

template <class T>
StructFactorKernel<T> block_struct_factor(int block) {
  switch (block) {
    case 2: return struct_factor_of<2, T>();
    case 3: return struct_factor_of<3, T>();
    case 4: return struct_factor_of<4, T>();
    case 5: return struct_factor_of<5, T>();
    case 6: return struct_factor_of<6, T>();
    case 7: return struct_factor_of<7, T>();
    case 8: return struct_factor_of<8, T>();
    default: return {};
  }
}

template StructFactorKernel<double> block_struct_factor(int);
template StructFactorKernel<float> block_struct_factor(int);

}  // namespace echelon
