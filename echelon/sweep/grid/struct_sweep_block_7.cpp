// SPDX-License-Identifier: BSD-3-Clause
#define ECHELON_BLOCK 7
#include "echelon/sweep/grid/struct_sweep_block_size.inl"
