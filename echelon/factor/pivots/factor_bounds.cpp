// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/pivots/factor_bounds.hpp"

#include <bit>

#include "echelon/factor/blocks_gpu/factor_status.hpp"

namespace echelon {

FactorBounds bounds_in(const FactorStatus& status) {
  FactorBounds bounds;
  bounds.lower = std::bit_cast<double>(status.lower);
  bounds.upper = std::bit_cast<double>(status.upper);
  bounds.inverse = std::bit_cast<double>(status.inverse);
  bounds.finite = status.not_bounded == 0;
  return bounds;
}

}  // namespace echelon
