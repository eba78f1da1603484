// SPDX-License-Identifier: BSD-3-Clause
// Look-up of the block sweeps by their size; each size is compiled in a file of its own.
#include "echelon/sweep/grid/struct_sweep.hpp"

namespace echelon {

template <class T>
StructSweepKernels<T> block_struct_sweep(int block, Stored stored) {
  switch (block) {
    case 2: return struct_sweep_of<2, T>(stored);
    case 3: return struct_sweep_of<3, T>(stored);
    case 4: return struct_sweep_of<4, T>(stored);
    case 5: return struct_sweep_of<5, T>(stored);
    case 6: return struct_sweep_of<6, T>(stored);
    case 7: return struct_sweep_of<7, T>(stored);
    case 8: return struct_sweep_of<8, T>(stored);
    default: return {};
  }
}

template StructSweepKernels<double> block_struct_sweep(int, Stored);
template StructSweepKernels<float> block_struct_sweep(int, Stored);

}  // namespace echelon
