// SPDX-License-Identifier: BSD-3-Clause
#define ECHELON_BLOCK 7
#include "echelon/factor/grid/struct_factor_block_size.inl"
